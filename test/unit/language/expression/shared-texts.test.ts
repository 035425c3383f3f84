import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import type { BuildKernel } from '../../../../runtime/language/expression/operand.js';
import { runKernelsAtOnce } from '../../../../runtime/language/expression/run-kernels.js';
import {
  changing,
  comparing,
  joining,
  measuring,
  relating,
} from '../../../../runtime/language/expression/kernels/texts.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import type { Reading } from '../../../../runtime/ground/text/index.js';

/** The results of a kernel of two texts of the candidates, or of the first of them. */
function run(
  build: BuildKernel,
  out: 'number' | 'text',
  cells: readonly (readonly [string, string])[],
): unknown[] {
  const layout = new FrameLayout();
  const args = [0, 1].map(() => layout.add({ kind: 'text', scope: 'candidate' }));
  const slot = layout.add({ kind: out, scope: 'candidate' });
  const frame = new Frame(layout);
  frame.reset(cells.length, 0);
  for (const [row, pair] of cells.entries())
    for (const [i, text] of pair.entries()) {
      const column = frame.text(args[i] ?? -1);
      column.values[row] = text;
      column.status[row] = Status.present;
    }
  runKernelsAtOnce([build(slot, args)], frame);
  const column = frame.columns[slot];
  if (column?.kind !== 'number' && column?.kind !== 'text') throw new Error('no such column');
  return [...column.values].slice(0, cells.length);
}

/** A reading that counts the characters that it reads. */
function counted(isInPieces: boolean): { readonly reading: Reading<number>; readonly units: () => number } {
  let units = 0;
  const of = (text: string): number => (units += text.length) && text.length;
  const reading = isInPieces
    ? {
        of,
        *inPieces(text: string) {
          yield;
          return of(text);
        },
      }
    : { of };
  return { reading, units: () => units };
}

const LONG = ['x', 'y', 'z'].map((letter) => letter.repeat(5000));
/** Candidates of three entities in turn. */
const shared = (row: number): string => LONG[row % 3] ?? '';

describe('a long text that candidates share', () => {
  const cells = Array.from({ length: 600 }, (_, row) => [shared(row), shared(row + 1)] as const);

  for (const isInPieces of [false, true]) {
    const how = isInPieces ? 'in pieces' : 'at once';
    it(`is read once, ${how}`, () => {
      const { reading, units } = counted(isInPieces);
      expect(run(measuring(reading), 'number', cells)).to.deep.equal(cells.map(() => 5000));
      expect(units()).to.equal(3 * 5000);
    });

    it(`is changed and joined once, ${how}`, () => {
      for (const build of [changing, (reading: Reading<string>) => joining('f', '|', reading)]) {
        const { reading, units } = counted(isInPieces);
        const marked = { of: (text: string) => `${reading.of(text)}` };
        run(build(marked), 'text', cells.slice(0, 300));
        expect(units()).to.equal(3 * 5000);
      }
    });

    it(`is read and compared once with another, ${how}`, () => {
      const { reading, units } = counted(isInPieces);
      let comparisons = 0;
      run(
        comparing(reading, (a, b) => a + b + comparisons++ * 0),
        'number',
        cells,
      );
      expect(units()).to.equal(3 * 5000);
      expect(comparisons).to.equal(3);
    });
  }

  it('is searched once for a part that candidates share too', () => {
    let searches = 0;
    const of = (text: string, part: string): boolean => text.includes(part) && ++searches > 0;
    expect(
      run(
        relating('contains', { of }),
        'number',
        cells.map(([text]) => [text, text] as const),
      ),
    ).to.deep.equal(cells.map(() => 1));
    expect(searches).to.equal(3);
  });

  it('is searched for parts of many candidates, up to a bound', () => {
    const contains = relating('contains', {
      of: (text, part) => text.includes(part),
      *inPieces(text, part) {
        yield;
        return text.includes(part);
      },
    });
    const text = 'a description of the page '.repeat(320); // 8,000 characters
    const of = (count: number) => Array.from({ length: count }, (_, row) => [text, `part ${row}`] as const);
    expect(run(contains, 'number', of(1000))).to.deep.equal(of(1000).map(() => 0));
    expect(() => run(contains, 'number', of(1100)))
      .to.throw(
        MillraceError,
        '`contains` searches at most 8,388,608 characters of texts that candidates share for one request; send fewer candidates or shorter texts',
      )
      .with.property('status', 422);
    // Texts of their own have no bound.
    const own = of(1100).map(([one, part], row) => [`${row} ${one}`, part] as const);
    expect(run(contains, 'number', own)).to.deep.equal(own.map(() => 0));
  });

  it('has the results of other texts nowhere, in any order of candidates', () => {
    const pick = fc.constantFrom(...LONG, ...LONG.map((text) => `${text}!`), 'short', 'a'.repeat(1025));
    fc.assert(
      fc.property(fc.array(fc.tuple(pick, pick), { minLength: 1, maxLength: 40 }), (pairs) => {
        const { reading } = counted(true);
        const found = run(
          comparing(reading, (a, b) => a * 10_000 + b),
          'number',
          pairs,
        );
        expect(found).to.deep.equal(pairs.map(([a, b]) => a.length * 10_000 + b.length));
      }),
    );
  });
});
