import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { Missing, type Outcome } from '../../../support/interpreter.js';
import { compiled } from './shop.js';
import { fill, results, Table, type Data } from './table.js';

const COLUMNS = {
  'r.text': { type: { kind: 'text' }, scope: 'request' },
  'c.text': { type: { kind: 'text' }, scope: 'candidate' },
} as const;

function run(text: string, data: Data, count: number): Outcome[] {
  const table = new Table(COLUMNS);
  const expression = compiled(text, table);
  const frame = new Frame(table.layout);
  fill(frame, table, data, count, 0);
  return results(frame, expression);
}

/** A text that is repeated, so that it has a length around those at which long texts begin. */
const text = fc
  .tuple(
    fc.constantFrom('|', 'a|', '\\|', 'ab\\c', 'é😀|', 'plain'),
    fc.nat(3000),
    fc.constantFrom(1, 1, 1, 20),
  )
  .map(([unit, times, more]) => unit.repeat(times * more));
const cell = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.constant(undefined) });
const escaped = (one: string): string => one.replaceAll(/[|\\]/g, '\\$&');

describe('joined texts', () => {
  it('are those of the texts one by one, however long', () => {
    const requests = fc.tuple(cell, fc.array(cell, { minLength: 1, maxLength: 4 }));
    fc.assert(
      fc.property(requests, fc.constantFrom(1, 400), ([fixed, cells], repeats) => {
        const rows = Array.from({ length: repeats }, () => cells).flat();
        if (rows.reduce((units, one) => units + (one?.length ?? 0) + (fixed?.length ?? 0), 0) > 1e6) return;
        const missing = new Missing(Status.null);
        const data = { 'r.text': [fixed ?? missing], 'c.text': rows.map((one) => one ?? missing) };
        const expected = (join: (a: string, b: string) => string): Outcome[] =>
          rows.map((one) => (one === undefined || fixed === undefined ? missing : join(fixed, one)));
        expect(run('cross(r.text, c.text)', data, rows.length)).to.deep.equal(
          expected((a, b) => `${escaped(a)}|${escaped(b)}`),
        );
        expect(run('concat(c.text, "-", r.text)', data, rows.length)).to.deep.equal(
          expected((a, b) => `${b}-${a}`),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('are refused if the candidates repeat a long text of the request very often', () => {
    const data = {
      'r.text': ['x'.repeat(1_000_000)],
      'c.text': Array.from({ length: 34 }, (_, n) => `brand ${n}`),
    };
    for (const name of ['cross', 'concat']) {
      expect(run(`${name}(r.text, c.text)`, data, 30)).to.have.length(30);
      expect(() => run(`${name}(r.text, c.text)`, data, 34))
        .to.throw(MillraceError, `\`${name}\` joins at most 33,554,432 characters for one request`)
        .with.property('status', 422);
    }
  });
});
