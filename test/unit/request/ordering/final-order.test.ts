import { expect } from 'chai';
import fc from 'fast-check';
import type { PinSource } from '../../../../runtime/ground/api/ranking-edit.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import { Ranking } from '../../../../runtime/request/ordering/ranking.js';

function rankingOf(scores: readonly number[]): Ranking {
  const frame = new Frame(new FrameLayout());
  frame.reset(scores.length, 0);
  frame.scores.set(scores);
  return new Ranking(
    frame,
    'product',
    scores.map((_, row) => `c${row}`),
  );
}

const rowsIn = (ranking: Ranking): number[] => ranking.slice(0, ranking.rows.length).map(({ row }) => row);
const scoresIn = (ranking: Ranking): number[] =>
  ranking.slice(0, ranking.rows.length).map(({ score }) => score);
const groups = (...numbers: number[]): Int32Array => Int32Array.from(numbers);

describe('final order', () => {
  it('lets a curated pin win over a pin of the pipeline, whichever comes first', () => {
    for (const sources of [['curation', 'pipeline'] as const, ['pipeline', 'curation'] as const]) {
      const ranking = rankingOf([5, 4, 3, 2]);
      for (const source of sources) ranking.pin(source === 'curation' ? 3 : 2, 1, source);
      expect(rowsIn(ranking)).to.deep.equal([3, 0, 1, 2]);
      expect([...ranking.pins]).to.deep.equal([[3, 1]]);
    }
  });

  it('gives a slot to the best candidate that qualifies and is not above it', () => {
    const ranking = rankingOf([9, 8, 7, 6, 5, 4]);
    ranking.ask('reserve', 1, { positions: [2, 4], rows: [0, 4, 5] });
    expect(rowsIn(ranking)).to.deep.equal([0, 4, 1, 5, 2, 3]);
    expect(scoresIn(ranking)).to.deep.equal([9, 8, 8, 7, 7, 6]);
  });

  it('leaves a slot to the others if no candidate has the score', () => {
    const ranking = rankingOf([9, 8, 7]);
    ranking.ask('reserve', 1, { positions: [1], rows: [2], least: 7.5 });
    expect(rowsIn(ranking)).to.deep.equal([0, 1, 2]);
    ranking.scores[2] = 7.6; // the score counts after all steps
    ranking.ask('reserve', 2, { positions: [9], rows: [0] });
    expect(rowsIn(ranking)).to.deep.equal([2, 0, 1]);
  });

  it('keeps the best of a group, at its place, and says which rows went', () => {
    const ranking = rankingOf([1, 4, 3, 2, 0]);
    ranking.ask('keepOne', 7, { groups: groups(0, 1, 0, 1, -1) });
    expect(ranking.settle()).to.deep.equal([
      { row: 3, step: 7 },
      { row: 0, step: 7 },
    ]);
    expect(rowsIn(ranking)).to.deep.equal([1, 2, 4]);
    expect([...ranking.rows]).to.deep.equal([1, 2, 4]);
  });

  it('shows the preferred one of a group at the place of the best', () => {
    const ranking = rankingOf([9, 8, 7, 6]);
    const prefer = Float64Array.of(NaN, 1, 5, 5);
    ranking.ask('keepOne', 1, { groups: groups(0, 1, 0, 0), prefer });
    expect(rowsIn(ranking)).to.deep.equal([2, 1]);
    expect(scoresIn(ranking)).to.deep.equal([8, 8]);
  });

  it('keeps the pinned and slotted ones of a group', () => {
    const ranking = rankingOf([9, 8, 7, 6, 5]);
    ranking.ask('keepOne', 1, { groups: groups(0, 0, 0, 1, 1) });
    ranking.ask('reserve', 2, { positions: [2], rows: [4] });
    ranking.pin(2, 1);
    expect(rowsIn(ranking)).to.deep.equal([2, 4]);
  });

  it('shows one of a group if several slots could take them, and fills the slots with others', () => {
    const numbers = groups(-1, 0, -1, 1, 1, 1, 0, -1, -1);
    const withSlots = (): Ranking => {
      const ranking = rankingOf([9, 8, 7, 6, 5, 4, 3, 2, 1]);
      for (const position of [3, 5]) ranking.ask('reserve', 1, { positions: [position], rows: [3, 4, 5, 7] });
      ranking.ask('keepOne', 2, { groups: numbers });
      return ranking;
    };
    expect(rowsIn(withSlots())).to.deep.equal([0, 1, 3, 2, 7, 8]);
    const pinned = withSlots();
    pinned.pin(5, 6);
    // Nothing else qualifies for the second slot, so it is filled as any other position.
    expect(rowsIn(pinned)).to.deep.equal([0, 1, 7, 2, 8, 5]);
    const twice = withSlots();
    for (const [row, position] of [
      [5, 6],
      [3, 1],
    ] as const)
      twice.pin(row, position);
    expect(rowsIn(twice)).to.deep.equal([3, 0, 7, 1, 2, 5, 8]);
  });

  it('orders a list as a whole, in the places that its rows have', () => {
    const ranking = rankingOf([9, 8, 7, 6]);
    ranking.ask('reorder', 1, groups(3, 0, 2));
    expect(rowsIn(ranking)).to.deep.equal([3, 1, 0, 2]);
    expect([...ranking.order(2)]).to.deep.equal([3, 1]);
    expect(scoresIn(ranking)).to.deep.equal([9, 9, 9, 7]);
    ranking.remove([0]);
    ranking.pin(1, 1);
    expect(rowsIn(ranking)).to.deep.equal([1, 3, 2]);
  });

  it('forgets the rules of a failed step', () => {
    const ranking = rankingOf([2, 1]);
    const before = ranking.snapshot();
    ranking.ask('reorder', 1, groups(1, 0));
    ranking.pin(1, 1, 'curation');
    ranking.restore(before);
    expect(rowsIn(ranking)).to.deep.equal([0, 1]);
  });

  it('refuses rows that do not exist, rows given twice, and positions below 1', () => {
    const ranking = rankingOf([2, 1]);
    const reorder =
      (...rows: number[]) =>
      () =>
        ranking.ask('reorder', 1, groups(...rows));
    expect(reorder(2)).to.throw(RangeError, 'there is no row 2');
    expect(reorder(-1)).to.throw(RangeError);
    expect(reorder(0, 0)).to.throw(RangeError, 'given twice');
    const slot = { positions: [0], rows: [1] };
    expect(() => ranking.ask('reserve', 1, slot)).to.throw(RangeError, 'from 1, not 0');
    const grouping = { groups: groups(0) };
    expect(() => ranking.ask('keepOne', 1, grouping)).to.throw(RangeError, '1 of 2');
  });

  it('keeps the precedence for any rules, and loses and invents nothing (property)', () => {
    const SIZE = 14;
    const row = fc.nat(SIZE - 1);
    const pin = fc.tuple(
      row,
      fc.integer({ min: 1, max: SIZE + 2 }),
      fc.constantFrom<PinSource>('curation', 'pipeline'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -2, max: 3 }), { minLength: SIZE, maxLength: SIZE }),
        fc.array(pin, { maxLength: 5 }),
        fc.uniqueArray(row, { maxLength: 4 }),
        fc.uniqueArray(row, { maxLength: 4 }),
        fc.record({
          positions: fc.uniqueArray(fc.integer({ min: 1, max: SIZE + 2 }), { maxLength: 3 }),
          rows: fc.uniqueArray(row, { maxLength: 6 }),
          least: fc.constantFrom(-Infinity, 1),
        }),
        fc.array(fc.integer({ min: -1, max: 3 }), { minLength: SIZE, maxLength: SIZE }),
        fc.uniqueArray(row),
        fc.array(fc.nat(99), { minLength: 5, maxLength: 5 }),
        (scores, pins, hidden, buried, slot, numbers, list, shuffle) => {
          const ranking = rankingOf(scores);
          const grouping = { groups: Int32Array.from(numbers) };
          const rules = [
            () => ranking.ask('reserve', 1, slot),
            () => ranking.ask('keepOne', 2, grouping),
            () => ranking.ask('reorder', 3, Int32Array.from(list)),
            () => pins.forEach((one) => ranking.pin(...one)),
            () => buried.forEach((one) => ranking.bury(one)),
          ];
          // The order of the steps does not matter.
          const order = rules
            .map((rule, i) => ({ rule, key: shuffle[i] ?? 0 }))
            .sort((a, b) => a.key - b.key);
          for (const { rule } of order) rule();
          ranking.remove(hidden);
          const held = new Map(ranking.pins);
          const dropped = ranking.settle().map((one) => one.row);
          const rows = rowsIn(ranking);

          expect([...rows, ...dropped, ...hidden].sort((a, b) => a - b)).to.deep.equal([...scores.keys()]);
          // Exact pins of curation first, then those of the pipeline.
          for (const [pinned, position] of held) {
            expect(hidden).not.to.include(pinned);
            expect(rows).to.include(pinned);
            if (position <= rows.length) expect(rows[position - 1]).to.equal(pinned);
          }
          for (const source of ['curation', 'pipeline'] as const) {
            const last = pins.findLast(([one, , by]) => by === source && !hidden.includes(one));
            const curated = pins.some(
              ([one, at, by]) => by === 'curation' && (one === last?.[0] || at === last?.[1]),
            );
            if (last !== undefined && (source === 'curation' || !curated))
              expect(held.get(last[0])).to.equal(last[1]);
          }
          // A position of a slot has a candidate that qualifies, unless it is pinned or no such candidate stands below it.
          const fits = (one: number): boolean => slot.rows.includes(one) && (scores[one] ?? 0) >= slot.least;
          const isTwin = (a: number, b: number): boolean =>
            (numbers[a] ?? -1) >= 0 && numbers[a] === numbers[b];
          for (const position of slot.positions) {
            const at = rows[position - 1];
            if (at === undefined || [...held.values()].includes(position) || fits(at)) continue;
            if ([...held.values()].some((one) => one > rows.length)) continue;
            const loose = [...rows.slice(position - 1), ...dropped].filter(
              (one) =>
                fits(one) && !held.has(one) && !rows.some((other) => other !== one && isTwin(one, other)),
            );
            const tier = (one: number): number => (buried.includes(one) ? 1 : 0);
            // Whoever qualifies stood above the position by score, before groups removed candidates.
            for (const one of loose) {
              const better = [...scores.keys()].filter(
                (other) =>
                  !hidden.includes(other) &&
                  !held.has(other) &&
                  (tier(other) - tier(one) || (scores[one] ?? 0) - (scores[other] ?? 0) || other - one) < 0,
              );
              if (list.length === 0) expect(better.length).to.be.below(position);
            }
          }
          // A group has one candidate, or only pinned ones.
          const shown = rows.filter((one) => (numbers[one] ?? -1) >= 0);
          for (const one of shown) {
            const twins = shown.filter((other) => numbers[other] === numbers[one]);
            for (const twin of twins) if (twins.length > 1) expect(held.has(twin)).to.equal(true);
          }
          // A dropped candidate has a twin that is shown.
          for (const one of dropped)
            expect(shown.some((other) => numbers[other] === numbers[one])).to.equal(true);
          const answered = scoresIn(ranking);
          answered.forEach((score, i) => expect(score).to.be.at.most(answered[i - 1] ?? Infinity));
          expect(ranking.slice(3, 8)).to.deep.equal(ranking.slice(0, rows.length).slice(3, 8));
        },
      ),
      { numRuns: 200 },
    );
  });
});
