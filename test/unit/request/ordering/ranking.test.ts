import { expect } from 'chai';
import fc from 'fast-check';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout } from '../../../../runtime/language/frame/frame-layout.js';
import { cutPage } from '../../../../runtime/request/pipeline/page/answer-page.js';
import { Ranking } from '../../../../runtime/request/ordering/ranking.js';

/** A ranking of candidates `c0`, `c1` … with the given scores. */
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

describe('Ranking', () => {
  it('orders by score, ties by input order, without a component that sorts', () => {
    expect(rowsIn(rankingOf([1, 3, 3, 2]))).to.deep.equal([1, 2, 3, 0]);
    expect(rowsIn(rankingOf([0, 0, 0]))).to.deep.equal([0, 1, 2]);
  });

  it('pins to exactly the requested position, counted from 1', () => {
    const ranking = rankingOf([5, 4, 3, 2, 1]);
    ranking.pin(4, 1);
    ranking.pin(0, 3);
    expect(rowsIn(ranking)).to.deep.equal([4, 1, 0, 2, 3]);
  });

  it('places the candidates of a page as it places all of them', () => {
    const some = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 12 });
    const pins = fc.array(fc.tuple(fc.nat(11), fc.integer({ min: 1, max: 12 })), { maxLength: 3 });
    fc.assert(
      fc.property(some, pins, fc.nat(12), fc.nat(12), (scores, wanted, start, size) => {
        const ranking = rankingOf(scores);
        for (const [row, position] of wanted) if (row < scores.length) ranking.pin(row, position);
        const [places, answered] = [new Int32Array(12), new Float64Array(12)];
        ranking.placeAll(places, answered);
        const page = ranking.slice(start, start + size);
        expect(page).to.have.length(Math.max(0, Math.min(size, scores.length - start)));
        for (const [i, { row, score }] of page.entries()) {
          expect(places[row]).to.equal(start + i + 1);
          expect(answered[row]).to.equal(score);
        }
      }),
    );
  });

  it('pins a score of 0 and negative scores without changing any score', () => {
    const ranking = rankingOf([-1, 0, -5]);
    ranking.pin(2, 1);
    expect(rowsIn(ranking)).to.deep.equal([2, 1, 0]);
    expect([...ranking.scores]).to.deep.equal([-1, 0, -5]);
    expect(scoresIn(ranking)).to.deep.equal([0, 0, -1]);
  });

  it('pins past the end to the last place, and over a filtered list', () => {
    const ranking = rankingOf([3, 2, 1]);
    ranking.pin(0, 9);
    expect(rowsIn(ranking)).to.deep.equal([1, 2, 0]);
    ranking.remove([1]);
    expect(rowsIn(ranking)).to.deep.equal([2, 0]);
  });

  it('keeps the later of two pins to the same position, and the earlier one if a filter removes the later', () => {
    const ranking = rankingOf([3, 2, 1]);
    ranking.pin(1, 1);
    ranking.pin(2, 1);
    expect(rowsIn(ranking)).to.deep.equal([2, 0, 1]);
    ranking.remove([2]);
    ranking.pin(2, 1);
    expect(rowsIn(ranking)).to.deep.equal([1, 0]);
  });

  it('buries below all others, and keeps the order of buried candidates', () => {
    const ranking = rankingOf([9, 8, 1, 2]);
    ranking.bury(0);
    ranking.bury(1);
    ranking.bury(1);
    expect(rowsIn(ranking)).to.deep.equal([3, 2, 0, 1]);
    expect(scoresIn(ranking)).to.deep.equal([2, 1, 1, 1]);
  });

  it('scopes to the best candidates, and the others stay below them for any scores', () => {
    const ranking = rankingOf([1, 5, 4, 3]);
    expect([...ranking.scopeTo(2)]).to.deep.equal([1, 2]);
    ranking.scores[1] = -10;
    expect(rowsIn(ranking)).to.deep.equal([2, 1, 3, 0]);
    expect([...ranking.scopeTo(9)]).to.deep.equal([0, 1, 2, 3]);
  });

  it('rolls back a whole step', () => {
    const ranking = rankingOf([1, 2]);
    const before = ranking.snapshot();
    ranking.scores[0] = 7;
    ranking.bury(1);
    ranking.pin(1, 1);
    ranking.restore(before);
    expect(rowsIn(ranking)).to.deep.equal([1, 0]);
    expect(scoresIn(ranking)).to.deep.equal([2, 1]);
  });

  it('rolls back sponsors and content, and keeps those of steps before', () => {
    const ranking = rankingOf([1, 2, 3]);
    const [kept, undone] = [{ place: 'top' }, { place: 'side' }];
    ranking.sponsor(0, 1, 'Anzeige');
    ranking.show(kept);
    const before = ranking.snapshot();
    for (const label of ['a', 'b']) ranking.sponsor(0, 2, label);
    ranking.sponsor(1, 3, 'c');
    ranking.show(undone);
    ranking.show(undone);
    expect(ranking.contents).to.deep.equal([kept, undone]);
    ranking.restore(before);
    ranking.show(kept);
    expect(ranking.contents).to.deep.equal([kept]);
    expect([0, 1, 2].map((row) => ranking.labelOf?.(row))).to.deep.equal(['Anzeige', undefined, undefined]);
  });

  it('returns non-increasing scores, equal to the score of candidates that were not moved (property)', () => {
    const score = fc.integer({ min: -5, max: 5 });
    const pins = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 25 })), { maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(score, { maxLength: 20 }),
        pins,
        fc.uniqueArray(fc.nat(19)),
        (scores, pinned, buried) => {
          const ranking = rankingOf(scores);
          for (const row of buried) if (row < scores.length) ranking.bury(row);
          for (const [row, position] of pinned) if (row < scores.length) ranking.pin(row, position);
          const all = ranking.slice(0, scores.length);
          expect(all.map(({ row }) => row).sort((a, b) => a - b)).to.deep.equal([...scores.keys()]);
          all.forEach(({ score: answered }, i) => {
            if (i > 0) expect(answered).to.be.at.most(all[i - 1]?.score ?? 0);
          });
          const moved = new Set([...buried, ...pinned.map(([row]) => row)]);
          if (moved.size === 0)
            expect(all.map((one) => one.score)).to.deep.equal(all.map((one) => scores[one.row]));
          // Any page is a range of the whole ranking.
          expect(ranking.slice(3, 8)).to.deep.equal(all.slice(3, 8));
        },
      ),
    );
  });
});

describe('paging', () => {
  it('matches its definition', () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.record({ start: fc.integer({ min: -160, max: 144 }), size: fc.integer({ min: 1, max: 12 }) }),
        (count, paging) => {
          const ranking = rankingOf(Array.from({ length: count }, (_, i) => count - i));
          const expected = [...Array(count).keys()].filter(
            (rank) => rank >= paging.start && rank < paging.start + paging.size,
          );
          expect(cutPage(ranking, paging).map(({ row }) => row)).to.deep.equal(expected);
        },
      ),
    );
  });

  it('covers every candidate exactly once, page by page, if sizes do not divide evenly', () => {
    const ranking = rankingOf(Array.from({ length: 23 }, () => 0));
    const seen: number[] = [];
    for (let start = 0; start < 30; start += 5)
      seen.push(...cutPage(ranking, { start, size: 5 }).map(({ row }) => row));
    expect(seen).to.deep.equal([...Array(23).keys()]);
  });
});
