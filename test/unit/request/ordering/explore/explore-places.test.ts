import { expect } from 'chai';
import fc from 'fast-check';
import type { DrawMethod } from '../../../../../runtime/ground/api/ranking-edit.js';
import { keyedRandom } from '../../../../../runtime/ground/core/keyed-random.js';
import { Frame } from '../../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../../runtime/language/frame/frame-layout.js';
import { drawOrder } from '../../../../../runtime/request/ordering/explore/draw-order.js';
import type { Draws } from '../../../../../runtime/request/ordering/explore/draws.js';
import { Ranking } from '../../../../../runtime/request/ordering/ranking.js';

const METHODS: readonly DrawMethod[] = [
  { method: 'swap', probability: 0.5 },
  { method: 'plackett_luce', temperature: 5 },
  { method: 'epsilon_greedy', epsilon: 0.8 },
];

const drawsOf =
  (request: string): Draws =>
  () => {
    const random = keyedRandom('a secret of a test', request);
    return (draw, { scores }) => drawOrder(draw, scores, random);
  };

function rankingOf(scores: readonly number[], draws?: Draws): Ranking {
  const frame = new Frame(new FrameLayout());
  frame.reset(scores.length, 0);
  frame.scores.set(scores);
  const ids = scores.map((_, row) => `c${row}`);
  return new Ranking(frame, 'product', ids, { draws });
}

const rowsIn = (ranking: Ranking): number[] => ranking.slice(0, ranking.rows.length).map(({ row }) => row);

/** Whatever rules can do to a few candidates. */
const CASES = fc.record({
  scores: fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 16 }),
  removed: fc.array(fc.nat(15), { maxLength: 3 }),
  buried: fc.array(fc.nat(15), { maxLength: 4 }),
  pins: fc.array(fc.tuple(fc.nat(15), fc.integer({ min: 1, max: 18 })), { maxLength: 3 }),
  slots: fc.array(fc.tuple(fc.nat(15), fc.integer({ min: 1, max: 16 })), { maxLength: 2 }),
  limit: fc.option(fc.integer({ min: 1, max: 2 })),
  top: fc.integer({ min: 2, max: 20 }),
  method: fc.constantFrom(...METHODS),
  request: fc.string(),
});

type Case = typeof CASES extends fc.Arbitrary<infer T> ? T : never;

function build(
  { scores, removed, buried, pins, slots, limit, top, method, request }: Case,
  isDrawn: boolean,
): Ranking {
  const ranking = rankingOf(scores, isDrawn ? drawsOf(request) : undefined);
  const exists = (row: number): boolean => row < scores.length;
  ranking.explore({ step: 9, exploration: { top, draw: method } });
  ranking.remove(removed.filter(exists));
  for (const row of buried.filter(exists)) ranking.bury(row);
  for (const [row, position] of pins) if (exists(row)) ranking.pin(row, position);
  for (const [row, position] of slots)
    if (exists(row)) ranking.ask('reserve', 2, { positions: [position], rows: [row] });
  const groups = Int32Array.from(scores, (_, row) => (row % 3) % scores.length);
  if (limit !== null) ranking.ask('limit', 3, { groups, most: limit, within: 2 });
  return ranking;
}

describe('explored places', () => {
  it('respect pins, slots, filters and buried candidates, for any scores', () => {
    fc.assert(
      fc.property(CASES, (one) => {
        const [plain, drawn] = [build(one, false), build(one, true)];
        const [before, after] = [rowsIn(plain), rowsIn(drawn)];
        expect(after.toSorted()).to.deep.equal(before.toSorted());
        expect(after.slice(0, one.top).toSorted()).to.deep.equal(before.slice(0, one.top).toSorted());
        expect(after.slice(one.top)).to.deep.equal(before.slice(one.top));
        for (const [row] of drawn.pins) expect(after.indexOf(row)).to.equal(before.indexOf(row));
        const drawnPlaces = drawn.explored?.propensity ?? new Float64Array();
        for (const [place, row] of before.entries())
          if (Number.isNaN(drawnPlaces[place] ?? NaN)) expect(after[place]).to.equal(row);
        for (const [row, position] of one.slots)
          if (before[position - 1] === row && position <= one.top) expect(after[position - 1]).to.equal(row);
        const tiers = (rows: readonly number[]): number[] => rows.map((row) => drawn.tiers[row] ?? 0);
        expect(tiers(after)).to.deep.equal(tiers(before));
      }),
      { seed: 17, numRuns: 500 },
    );
  });

  it('have probabilities, and scores that never increase, on every page', () => {
    fc.assert(
      fc.property(CASES, fc.integer({ min: 1, max: 7 }), (one, size) => {
        const whole = rowsIn(build(one, true));
        const pages: number[] = [];
        let ceiling = Infinity;
        for (let start = 0; start < whole.length; start += size) {
          const page = build(one, true).slice(start, start + size);
          pages.push(...page.map(({ row }) => row));
          for (const { score } of page) {
            expect(score).to.be.at.most(ceiling);
            ceiling = score;
          }
        }
        expect(pages).to.deep.equal(whole);
        const { explored } = build(one, true);
        for (const values of [explored?.propensity, explored?.marginals])
          for (const value of values ?? [])
            if (!Number.isNaN(value)) expect(value).to.be.within(Number.MIN_VALUE, 1);
      }),
      { seed: 17, numRuns: 300 },
    );
  });

  it('never move a slotted or a pinned candidate', () => {
    for (const request of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const ranking = rankingOf([9, 8, 7, 6, 5, 4, 3], drawsOf(request));
      ranking.explore({
        step: 1,
        exploration: { top: 6, draw: { method: 'plackett_luce', temperature: 100 } },
      });
      ranking.ask('reserve', 2, { positions: [2], rows: [5] });
      ranking.pin(6, 4);
      const rows = rowsIn(ranking);
      expect([rows[1], rows[3]]).to.deep.equal([5, 6]);
      expect(ranking.explored?.propensity[1]).to.be.NaN;
      expect(ranking.explored?.propensity[3]).to.be.NaN;
      expect(ranking.explored?.propensity.filter((one) => one > 0)).to.have.length(4);
    }
  });

  it('are drawn again if something changes, and not after a step failed', () => {
    const ranking = rankingOf([3, 2, 1], drawsOf('x'));
    const kept = ranking.snapshot();
    ranking.explore({ step: 1, exploration: { top: 3, draw: { method: 'swap', probability: 0.999999 } } });
    expect(rowsIn(ranking)).to.deep.equal([1, 0, 2]);
    expect(ranking.moves().map(({ row, from, to }) => [row, from, to])).to.deep.equal([
      [1, 2, 1],
      [0, 1, 2],
    ]);
    ranking.pin(2, 1);
    expect(rowsIn(ranking)).to.deep.equal([2, 1, 0]);
    ranking.restore(kept);
    expect(rowsIn(ranking)).to.deep.equal([0, 1, 2]);
    expect(ranking.explored).to.equal(undefined);
  });
});
