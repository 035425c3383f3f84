import { expect } from 'chai';
import fc from 'fast-check';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import { Ranking } from '../../../../runtime/request/ordering/ranking.js';

const COUNT = 40;
const SIZE = 6;

const list = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(one, { minLength: COUNT, maxLength: COUNT });
const row = fc.nat(COUNT - 1);
const group = fc.integer({ min: -1, max: 7 });

const rules = fc.record({
  scores: list(fc.integer({ min: -3, max: 9 })),
  pins: fc.array(fc.tuple(row, fc.integer({ min: 1, max: COUNT + 3 })), { maxLength: 4 }),
  buried: fc.uniqueArray(row, { maxLength: 5 }),
  slot: fc.record({
    positions: fc.uniqueArray(fc.integer({ min: 1, max: COUNT }), { maxLength: 3 }),
    rows: fc.uniqueArray(row, { maxLength: 6 }),
  }),
  variants: list(fc.integer({ min: -1, max: 25 })),
  limits: fc.array(
    fc.record({
      groups: list(group),
      most: fc.integer({ min: 1, max: 2 }),
      within: fc.constantFrom<number | 'page'>(3, 4, 'page'),
    }),
    { maxLength: 3 },
  ),
  kinds: list(group),
  diverse: fc.option(
    fc.record({
      relevance: fc.constantFrom(0, 0.5, 1),
      places: fc.constantFrom(2, 10, 50),
      window: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    }),
    { nil: undefined },
  ),
});

type Rules = typeof rules extends fc.Arbitrary<infer T> ? T : never;

/** @param page the number of the page that a request asks for */
function rankingOf(
  { scores, pins, buried, slot, variants, limits, kinds, diverse }: Rules,
  page: number,
): Ranking {
  const frame = new Frame(new FrameLayout());
  frame.reset(COUNT, 0);
  frame.scores.set(scores);
  const ids = scores.map((_, at) => `c${at}`);
  const ranking = new Ranking(frame, 'product', ids, { page: { size: SIZE, first: page * SIZE } });
  for (const [one, position] of pins) ranking.pin(one, position);
  for (const one of buried) ranking.bury(one);
  ranking.ask('reserve', 1, slot);
  ranking.ask('keepOne', 2, { groups: Int32Array.from(variants) });
  for (const limit of limits) ranking.ask('limit', 3, { ...limit, groups: Int32Array.from(limit.groups) });
  if (diverse !== undefined)
    ranking.ask('diversify', 4, {
      ...diverse,
      rows: [...scores.keys()],
      compare: (one, rows, length, alike) => {
        for (let i = 0; i < length; i++) alike[i] = kinds[rows[i] ?? 0] === kinds[one] ? 1 : 0;
      },
    });
  return ranking;
}

describe('the pages of a ranking', () => {
  it('fit together for any rules: each is a part of the whole, and none has a candidate twice (property)', () => {
    fc.assert(
      fc.property(rules, (some) => {
        const whole = rankingOf(some, 0);
        whole.settle();
        const all = whole.slice(0, whole.rows.length);
        expect(all.map((one) => one.row).sort((a, b) => a - b)).to.deep.equal([...whole.rows]);
        const pages = Array.from({ length: Math.ceil(COUNT / SIZE) }, (_, page) =>
          rankingOf(some, page).slice(page * SIZE, (page + 1) * SIZE),
        );
        expect(pages.flat()).to.deep.equal(all);
      }),
      { numRuns: 40 },
    );
  });
});
