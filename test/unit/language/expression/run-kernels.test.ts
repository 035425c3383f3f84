import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import { runKernels, runKernelsAtOnce } from '../../../../runtime/language/expression/run-kernels.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import { fill, results, Table, type Data } from './table.js';

describe('kernels', () => {
  const frame = new Frame(new FrameLayout());
  const real = performance.now.bind(performance);
  /** What each kernel takes, in milliseconds of a clock that only kernels move. */
  let now = 0;
  const slow = (ran: number[], ms: number): (() => undefined)[] =>
    Array.from({ length: 100 }, (_, i) => () => {
      ran.push(i);
      now += ms;
      return undefined;
    });
  beforeEach(() => {
    now = 0;
    performance.now = () => now;
  });
  afterEach(() => {
    performance.now = real;
  });

  it('that take long together let other work run in between', async () => {
    const ran: number[] = [];
    const running = runKernels(slow(ran, 1), frame);
    expect(ran.length).to.be.within(4, 16);
    const most: number[] = [];
    let before = ran.length;
    const state = { isOver: false };
    void running?.then(() => (state.isOver = true));
    while (!state.isOver) {
      await nextTurn();
      most.push(ran.length - before);
      before = ran.length;
    }
    expect(Math.max(...most)).to.be.at.most(8);
    expect(ran).to.deep.equal(Array.from({ length: 100 }, (_, i) => i));
  });

  it('that are short run at once', () => {
    const ran: number[] = [];
    expect(runKernels(slow(ran, 0.01), frame)).to.equal(undefined);
    expect(ran).to.have.length(100);
  });

  it('that take long end with an error of the check', async () => {
    const ran: number[] = [];
    const failed = await runKernels(slow(ran, 1), frame, () => {
      throw new Error('over');
    })?.catch((error: unknown) => error);
    expect(String(failed)).to.contain('over');
    expect(ran.length).to.be.lessThan(20);
  });
});

describe('long lists in expressions', () => {
  const COLUMNS = {
    'r.numbers': { type: { kind: 'list', of: { kind: 'number' } }, scope: 'request' },
    'r.texts': { type: { kind: 'list', of: { kind: 'text' } }, scope: 'request' },
    'c.numbers': { type: { kind: 'list', of: { kind: 'number' } }, scope: 'candidate' },
    'c.texts': { type: { kind: 'list', of: { kind: 'text' } }, scope: 'candidate' },
    'c.number': { type: { kind: 'number' }, scope: 'candidate' },
    'c.long': { type: { kind: 'list', of: { kind: 'number' } }, scope: 'candidate' },
    'c.words': { type: { kind: 'list', of: { kind: 'text' } }, scope: 'candidate' },
  } as const;
  const numbers = Array.from({ length: 50_000 }, (_, i) => (i % 97 === 5 ? undefined : i % 1000));
  const texts = numbers.map((one) => one && String(one));
  const data: Data = {
    'r.numbers': [numbers],
    'r.texts': [texts],
    'c.numbers': [numbers, [], numbers.slice(0, 20_000)],
    'c.texts': [[], texts, texts.slice(0, 20_000)],
    'c.number': [500, 1, 2],
    'c.long': [numbers, numbers, numbers],
    'c.words': [texts, texts, texts],
  };
  const prepared = (text: string, count = 3, of = data): { frame: Frame; run: () => number } => {
    const table = new Table(COLUMNS);
    const compiled = compileExpression(text, table, { type: 'any', scope: 'any' });
    if (!compiled.ok) throw new Error(compiled.problems[0]?.message);
    const frame = new Frame(table.layout);
    fill(frame, table, of, count, 0);
    return {
      frame,
      run: () => {
        let pieces = 0;
        for (const kernel of compiled.expression.kernels) {
          const rest = kernel(frame);
          if (rest === undefined) continue;
          pieces++;
          while (rest.next().done !== true) pieces++;
        }
        expect(pieces).to.be.greaterThan(0);
        const found = results(frame, compiled.expression);
        expect(found).to.have.length(compiled.expression.scope === 'request' ? 1 : count);
        return pieces;
      },
    };
  };

  for (const [text, least] of [
    ['r.numbers * 2', 3],
    ['2 - c.numbers', 4],
    ['log1p(c.numbers)', 4],
    ['c.numbers in (1, 2, 3)', 4],
    ['c.texts in ("1", "2")', 4],
    ['c.texts == "7"', 4],
    ['not (r.texts == "7")', 6],
    ['r.numbers > c.number', 9],
    ['sum(c.long)', 1],
    ['count(c.words)', 1],
    ['c.number in c.long', 1],
  ] as const)
    it(`are computed in pieces: ${text}`, () => {
      expect(prepared(text).run()).to.be.at.least(least);
    });

  it('give the sums of their elements', () => {
    const table = new Table(COLUMNS);
    const compiled = compileExpression('sum(r.numbers * 2)', table, { type: 'any', scope: 'any' });
    if (!compiled.ok) throw new Error(compiled.problems[0]?.message);
    const frame = new Frame(table.layout);
    fill(frame, table, data, 3, 0);
    runKernelsAtOnce(compiled.expression.kernels, frame);
    expect(results(frame, compiled.expression)).to.deep.equal([
      numbers.reduce<number>((sum, one) => sum + 2 * (one ?? 0), 0),
    ]);
  });

  it('that each of many candidates would repeat are refused', () => {
    const count = 400;
    const many = {
      ...data,
      'c.number': Array.from({ length: count }, () => 1),
      'c.numbers': [],
      'c.texts': [],
      'c.long': [],
      'c.words': [],
    };
    for (const text of [
      'r.numbers > c.number',
      'if(c.number == 1, r.texts, c.texts)',
      'coalesce(c.numbers, r.numbers)',
    ])
      expect(() => prepared(text, count, many).run(), text)
        .to.throw(MillraceError, /have more than (1,048,576|393,216) elements of one list/)
        .with.property('status', 422);
  });

  it('are refused if too many of their remainders take long, on either side of %', () => {
    const one = (text: string, list: number): void => {
      const count = 1000;
      const many = { ...data, 'c.number': Array.from({ length: count }, () => 5e-310) };
      const long = Array.from({ length: 33 }, () => list);
      const own = { 'r.numbers': [long], 'c.numbers': [], 'c.texts': [], 'c.long': [], 'c.words': [] };
      prepared(text, count, { ...many, ...own }).run();
    };
    one('r.numbers % c.number', 1e-300);
    one('c.number % r.numbers', 1e308);
    expect(() => one('r.numbers % c.number', 1e308))
      .to.throw(MillraceError, /`%` divides at most 32,768 numbers of lists/)
      .with.property('status', 422);
    expect(() => one('1e308 % (r.numbers + 0 * c.number)', 5e-310)).to.throw(MillraceError, /`%` divides/);
  });

  it('of ordinary length may meet many candidates', () => {
    for (const [count, length] of [
      [1000, 1000],
      [10_000, 100],
    ] as const) {
      const list = Array.from({ length }, (_, i) => i);
      const many = {
        'r.numbers': [list],
        'r.texts': [list.slice(0, length / 3).map(String)],
        'c.number': Array.from({ length: count }, (_, row) => row % 2),
        'c.numbers': [],
        'c.texts': [],
        'c.long': [],
        'c.words': [],
      };
      prepared('r.numbers > c.number', count, many).run();
      prepared('if(c.number == 1, r.texts, r.texts)', count, many).run();
    }
  });
});
