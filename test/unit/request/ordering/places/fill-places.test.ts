/* eslint-disable @typescript-eslint/no-misused-spread -- the letters are ASCII */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Bound } from '../../../../../runtime/ground/api/ranking-edit.js';
import { FakeRanking } from '../../../../../runtime/cli/testing/fake-ranking.js';

const GROUP = 'abcdefgh';

/** The final order of candidates with falling scores, as the letters of their groups; `-` has none. */
function placed(
  letters: string,
  most: number,
  within: Bound['within'],
  pins: readonly [number, number][] = [],
): string {
  const ranking = new FakeRanking([...letters].map((_, row) => letters.length - row));
  const kinds = [...new Set(letters.replaceAll('-', ''))];
  const groups = Int32Array.from(letters, (letter) => kinds.indexOf(letter));
  ranking.limit({ groups, most, within });
  for (const [row, position] of pins) ranking.pin(row, position);
  return [...ranking.final(4)].map((row) => letters[row]).join('');
}

/** Whether every window, or page of 4, has at most `most` of each letter. */
function keeps(order: string, most: number, within: Bound['within']): boolean {
  const size = within === 'page' ? 4 : within;
  for (let start = 0; start < order.length; start += within === 'page' ? size : 1) {
    const part = [...order.slice(start, start + size)];
    if ([...GROUP].some((letter) => part.filter((one) => one === letter).length > most)) return false;
  }
  return true;
}

/** Whether some order of the letters keeps the bound, by trying all. */
function canBeKept(letters: string, most: number, within: Bound['within'], sofar = ''): boolean {
  if (!keeps(sofar, most, within)) return false;
  if (letters === '') return true;
  return [...new Set(letters)].some((letter) => {
    const at = letters.indexOf(letter);
    return canBeKept(letters.slice(0, at) + letters.slice(at + 1), most, within, sofar + letter);
  });
}

interface RawBound extends Omit<Bound, 'groups'> {
  readonly groups: readonly number[];
}

/**
 * Whether no window, or page of 4, has too many candidates of a group, of which one has no place of its own. An empty place
 * is -1.
 * @param fixed rows by rank
 */
function holds(
  order: readonly number[],
  bounds: readonly RawBound[],
  fixed: ReadonlyMap<number, number>,
): boolean {
  return bounds.every(({ groups, most, within }) => {
    const size = within === 'page' ? 4 : within;
    for (let start = 0; start < order.length; start += within === 'page' ? size : 1) {
      const ranks = [...order.keys()].slice(start, start + size);
      const groupAt = (rank: number): number => groups[order[rank] ?? -1] ?? -1;
      for (const rank of ranks) {
        if (fixed.has(rank) || groupAt(rank) < 0) continue;
        if (ranks.filter((other) => groupAt(other) === groupAt(rank)).length > most) return false;
      }
    }
    return true;
  });
}

/** Whether some order of rows around fixed ones keeps all bounds, by trying all. */
function someOrder(count: number, bounds: readonly RawBound[], fixed: ReadonlyMap<number, number>): boolean {
  const order = Array.from({ length: count }, (_, rank) => fixed.get(rank) ?? -1);
  const fill = (rank: number): boolean => {
    if (rank === count) return true;
    if (fixed.has(rank)) return fill(rank + 1);
    for (let row = 0; row < count; row++) {
      if (order.includes(row)) continue;
      order[rank] = row;
      if (holds(order, bounds, fixed) && fill(rank + 1)) return true;
      order[rank] = -1;
    }
    return false;
  };
  return fill(0);
}

/** Groups by the number of a row, as the contract wants them. */
function numbered(groups: readonly number[]): Int32Array {
  const known = [...new Set(groups.filter((group) => group >= 0))];
  return Int32Array.from(groups, (group) => known.indexOf(group));
}

/** Whether groups fit on pages, at most `most` rows of a group on each: by augmenting paths, one for each row. */
function fitsPages(counts: readonly number[], sizes: readonly number[], most: number): boolean {
  const free = [...sizes];
  const flow = counts.map(() => sizes.map(() => 0));
  const augment = (group: number, seen: Set<number>): boolean => {
    for (const [page, at] of sizes.map((_, index) => [index, flow[group]?.[index] ?? 0] as const)) {
      if (at >= most || seen.has(page)) continue;
      seen.add(page);
      const move = (): boolean => {
        if ((free[page] ?? 0) > 0) {
          free[page] = (free[page] ?? 0) - 1;
          return true;
        }
        return counts.some((_, other) => {
          if (other === group || (flow[other]?.[page] ?? 0) === 0 || !augment(other, seen)) return false;
          (flow[other] ?? [])[page] = (flow[other]?.[page] ?? 0) - 1;
          return true;
        });
      };
      if (!move()) continue;
      (flow[group] ?? [])[page] = at + 1;
      return true;
    }
    return false;
  };
  return counts.every((count, group) => Array.from({ length: count }).every(() => augment(group, new Set())));
}

describe('limits in the final order', () => {
  it('pass over candidates whose group is full, and take them as soon as it is not', () => {
    expect(placed('aaabbcc', 1, 2)).to.equal('ababcac');
    expect(placed('aaabcdef', 2, 'page')).to.equal('aabcadef');
    expect(placed('aa-b', 1, 3)).to.equal('a-ba');
  });

  it('look ahead, so that a large group is spread', () => {
    expect(placed('bbaaa', 1, 2)).to.equal('ababa');
    expect(placed('cbaa', 1, 'page')).to.equal('cbaa');
  });

  it('hold from the top as far as they can', () => {
    expect(placed('aaaab', 1, 2)).to.equal('abaaa');
  });

  it('count pinned candidates, also those below', () => {
    expect(placed('aabc', 1, 2, [[1, 2]])).to.equal('bac' + 'a');
    expect(placed('abcdea', 1, 'page', [[5, 4]])).to.equal('bcdaae'.slice(0, 4) + 'ae');
  });

  it('hold whenever some order keeps them, and lose nothing (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'aaabbcd-'), { maxLength: 9 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom<Bound['within']>(2, 3, 4, 5, 'page'),
        (list, most, within) => {
          fc.pre(within === 'page' || most < within);
          const letters = list.join('');
          const order = placed(letters, most, within);
          expect([...order].sort().join('')).to.equal([...letters].sort().join(''));
          if (canBeKept(letters, most, within)) expect(keeps(order, most, within), order).to.equal(true);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('hold on pages of any sizes whenever a maximum flow says that they can (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 9 }),
        (groups, most, size) => {
          const ranking = new FakeRanking(groups.map((_, row) => groups.length - row));
          ranking.limit({ groups: numbered(groups), most, within: 'page' });
          const order = [...ranking.final(size)].map((row) => groups[row] ?? -1);
          const pages = Array.from({ length: Math.ceil(order.length / size) }, (_, page) =>
            order.slice(page * size, (page + 1) * size),
          );
          const broken = pages.some((page) =>
            page.some((group) => group >= 0 && page.filter((one) => one === group).length > most),
          );
          const counts = [0, 1, 2, 3, 4, 5].map((group) => groups.filter((one) => one === group).length);
          expect(broken, JSON.stringify(pages)).to.equal(
            !fitsPages(
              counts,
              pages.map(({ length }) => length),
              most,
            ),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  it('hold, several of them and around pins, whenever some order of a few candidates keeps them (property)', () => {
    const SIZE = 6;
    const bound = fc.record({
      groups: fc.array(fc.integer({ min: -1, max: 2 }), { minLength: SIZE, maxLength: SIZE }),
      most: fc.integer({ min: 1, max: 2 }),
      within: fc.constantFrom<Bound['within']>(3, 4, 'page'),
    });
    fc.assert(
      fc.property(
        fc.array(bound, { minLength: 1, maxLength: 3 }),
        fc.uniqueArray(fc.tuple(fc.nat(SIZE - 1), fc.integer({ min: 1, max: SIZE })), {
          maxLength: 3,
          selector: ([row]) => row,
        }),
        (bounds, pins) => {
          const ranking = new FakeRanking(Array.from({ length: SIZE }, (_, row) => SIZE - row));
          for (const one of bounds) ranking.limit({ ...one, groups: Int32Array.from(one.groups) });
          for (const [row, position] of pins) ranking.pin(row, position);
          const order = [...ranking.final(4)];
          expect([...order].sort((a, b) => a - b)).to.deep.equal([...order.keys()]);
          const fixed = new Map(pins.map(([row, position]) => [position - 1, row]));
          if (someOrder(SIZE, bounds, fixed))
            expect(holds(order, bounds, fixed), order.join()).to.equal(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('break a bound only where every candidate that is left breaks one, with any bounds and pins (property)', () => {
    const SIZE = 16;
    const bound = fc.record({
      groups: fc.array(fc.integer({ min: -1, max: 4 }), { minLength: SIZE, maxLength: SIZE }),
      most: fc.integer({ min: 1, max: 2 }),
      within: fc.constantFrom<Bound['within']>(2, 3, 5, 'page'),
    });
    fc.assert(
      fc.property(
        fc.array(bound, { minLength: 1, maxLength: 3 }),
        fc.uniqueArray(fc.tuple(fc.nat(SIZE - 1), fc.integer({ min: 1, max: SIZE })), {
          maxLength: 3,
          selector: ([row]) => row,
        }),
        (bounds, pins) => {
          const ranking = new FakeRanking(Array.from({ length: SIZE }, (_, row) => SIZE - row));
          for (const one of bounds) ranking.limit({ ...one, groups: Int32Array.from(one.groups) });
          for (const [row, position] of pins) ranking.pin(row, position);
          const order = [...ranking.final(4)];
          expect([...order].sort((a, b) => a - b)).to.deep.equal(
            Array.from({ length: SIZE }, (_, row) => row),
          );
          const rows = new Map(pins.map(([row, position]) => [position, row]));
          const pinned = new Set(rows.values());
          /** Whether a row breaks a bound at a rank, above it and with the pinned ones below. */
          const breaks = (row: number, rank: number): boolean =>
            bounds.some(({ groups, most, within }) => {
              if (groups[row] === -1) return false;
              const shown = order.map((one, at) =>
                at === rank ? row : at < rank || pinned.has(one) ? one : undefined,
              );
              const size = within === 'page' ? 4 : within;
              for (let start = 0; start < SIZE; start += within === 'page' ? size : 1) {
                if (start > rank || rank >= start + size) continue;
                const part = shown.slice(start, start + size);
                if (part.filter((one) => one !== undefined && groups[one] === groups[row]).length > most)
                  return true;
              }
              return false;
            });
          for (const [rank, row] of order.entries()) {
            if (pinned.has(row) || !breaks(row, rank)) continue;
            const left = order.slice(rank).filter((one) => !pinned.has(one));
            expect(left.filter((one) => !breaks(one, rank))).to.deep.equal([]);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('diversity in the final order', () => {
  /** Equal groups are alike. */
  function diverse(letters: string, relevance: number, window?: number, places = 100): string {
    const ranking = new FakeRanking([...letters].map((_, row) => letters.length - row));
    ranking.diversify({
      rows: [...letters].map((_, row) => row),
      relevance,
      places,
      window,
      compare: (row, rows, length, alike) => {
        for (let i = 0; i < length; i++) alike[i] = letters[rows[i] ?? 0] === letters[row] ? 1 : 0;
      },
    });
    return [...ranking.final()].map((row) => letters[row]).join('');
  }

  it('weighs the score against the likeness to what stands above', () => {
    expect(diverse('aabc', 1)).to.equal('aabc');
    expect(diverse('aabc', 0)).to.equal('abca');
    expect(diverse('aaabbb', 0)).to.equal('abaabb');
    expect(diverse('aaabbb', 0, 1)).to.equal('ababab');
    expect(diverse('aaabbb', 0, 1, 2)).to.equal('abaabb');
  });

  it('scales scores whose difference is not finite', () => {
    const ranking = new FakeRanking([-1.5e308, 1.5e308, 1e308, 0]);
    const compare = (_row: number, _rows: Int32Array, length: number, alike: Float64Array): void =>
      void alike.fill(0, 0, length);
    ranking.diversify({ rows: [0, 1, 2, 3], relevance: 1, places: 4, compare });
    expect([...ranking.final()]).to.deep.equal([1, 2, 3, 0]);
  });

  it('agrees with the definition (property)', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.nat(9), fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 })),
          {
            maxLength: 10,
          },
        ),
        fc.constantFrom(0, 0.3, 0.7, 1),
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        fc.uniqueArray(fc.nat(9), { maxLength: 3 }),
        (items, relevance, window, buried) => {
          const scores = items.map(([score]) => score);
          const sim = (a: number, b: number): number =>
            (items[a]?.[1] ?? []).reduce((sum, one, i) => sum + one * (items[b]?.[1][i] ?? 0), 0) / 27;
          const ranking = new FakeRanking(scores);
          const low = buried.filter((row) => row < items.length);
          for (const row of low) ranking.bury(row);
          const rows = items.map((_, row) => row);
          ranking.diversify({
            rows,
            relevance,
            places: 100,
            window,
            compare: (row, others, length, alike) => {
              for (let i = 0; i < length; i++) alike[i] = sim(row, others[i] ?? 0);
            },
          });
          const open = scores.filter((_, row) => !low.includes(row));
          const [least, best] = [Math.min(...open), Math.max(...open)];
          const r = (row: number): number =>
            low.includes(row) ? 0 : best > least ? ((scores[row] ?? 0) - least) / (best - least) : 1;
          const expected: number[] = [];
          const base = [...ranking.order()];
          while (expected.length < base.length) {
            const above = window === undefined ? expected : expected.slice(-window);
            const value = (row: number): number =>
              relevance * r(row) -
              (1 - relevance) * (above.length === 0 ? 0 : Math.max(...above.map((one) => sim(one, row))));
            const left = base.filter((row) => !expected.includes(row));
            expected.push(left.reduce((a, b) => (value(b) > value(a) ? b : a)));
          }
          expect([...ranking.final()]).to.deep.equal(expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});
