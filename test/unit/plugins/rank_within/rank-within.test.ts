import { expect } from 'chai';
import fc from 'fast-check';
import type { Among, Order } from '../../../../plugins/rank_within/options.generated.js';
import { RankWithin } from '../../../../plugins/rank_within/rank-within.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

type Cells = readonly Cell<number | string>[];

async function ranked(
  cells: readonly Cell<number>[],
  more: { order?: Order; among?: Among; rows?: readonly number[]; quantile?: number } = {},
): Promise<Record<'rank' | 'percentile' | 'share' | 'z_score' | 'min_max' | 'median', Cells>> {
  const { order = 'descending', among = 'remaining', rows, quantile } = more;
  const step = new FakeStep(cells.length, rows);
  const component = new RankWithin(step.number(cells), order, among, quantile);
  return await compute(component, step);
}

describe('rank_within', () => {
  it('ranks from 1, the largest first; equal numbers share the better rank', async () => {
    const { rank, percentile } = await ranked([5, 9, 5, 1]);
    expect(rank).to.deep.equal([2, 1, 2, 4]);
    expect(percentile).to.deep.equal([0.5, 0.875, 0.5, 0.125]);
  });

  it('ranks the smallest first if configured; the other outputs do not change', async () => {
    const cells = [5, 9, 5, 1];
    const up = await ranked(cells, { order: 'ascending' });
    const down = await ranked(cells);
    expect(up.rank).to.deep.equal([2, 4, 2, 1]);
    expect(up.percentile).to.deep.equal([0.5, 0.125, 0.5, 0.875]);
    for (const output of ['share', 'z_score', 'min_max'] as const)
      expect(up[output]).to.deep.equal(down[output]);
  });

  it('gives shares, z-scores and min-max', async () => {
    const { share, z_score: z, min_max: minMax } = await ranked([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(share).to.deep.equal([2, 4, 4, 4, 5, 5, 7, 9].map((value) => value / 40));
    [-1.5, -0.5, -0.5, -0.5, 0, 0, 1, 2].forEach((wanted, row) =>
      expect(z[row]).to.be.closeTo(wanted, 1e-12),
    );
    expect(minMax).to.deep.equal([2, 4, 4, 4, 5, 5, 7, 9].map((value) => (value - 2) / 7));
  });

  it('gives the median and a quantile', async () => {
    expect((await ranked([9, 1, 5])).median).to.deep.equal([5, 5, 5]);
    expect((await ranked([9, 1, 5, 6])).median).to.deep.equal([5.5, 5.5, 5.5, 5.5]);
    expect((await ranked([7])).median).to.deep.equal([7]);
    // numpy.quantile([9, 1, 5, 6], …)
    for (const [quantile, value] of [
      [0, 1],
      [0.25, 4],
      [0.9, 8.1],
      [1, 9],
    ] as const) {
      const { quantile: found } = (await ranked([9, 1, 5, 6], { quantile })) as unknown as Record<
        string,
        number[]
      >;
      expect(found?.[0], String(quantile)).to.be.closeTo(value, 1e-12);
    }
    expect(Object.keys(await ranked([1]))).not.to.include('quantile');
    expect((await ranked([1, 5, 100, 200], { rows: [0, 1] })).median.slice(0, 2)).to.deep.equal([3, 3]);
    expect((await ranked([1, 5, 9, absent], { rows: [0, 3], among: 'all' })).median[0]).to.equal(5);
  });

  it('ignores unknown numbers, and keeps their status', async () => {
    const lost = { status: Status.missing_entity };
    const some = await ranked([lost, 3, absent, 1]);
    const alone = await ranked([3, 1]);
    for (const [output, cells] of Object.entries(some)) {
      const [first, second] = alone[output as keyof typeof alone];
      expect(cells, output).to.deep.equal([lost, first, absent, second]);
    }
  });

  it('has no z-score and no min-max if all are equal, or there is only one', async () => {
    for (const cells of [[3, 3, 3], [7], [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]]) {
      const { rank, z_score: z, min_max: minMax, percentile } = await ranked(cells);
      const none = cells.map(() => absent);
      expect(rank).to.deep.equal(cells.map(() => 1));
      expect(percentile).to.deep.equal(cells.map(() => 0.5));
      expect(z).to.deep.equal(none);
      expect(minMax).to.deep.equal(none);
    }
  });

  it('has no shares if a number is negative, or all are 0', async () => {
    expect((await ranked([3, -1])).share).to.deep.equal([absent, absent]);
    expect((await ranked([0, 0])).share).to.deep.equal([absent, absent]);
    expect((await ranked([0, 4])).share).to.deep.equal([0, 1]);
  });

  it('compares the candidates that remain, or all of the request', async () => {
    const cells = [1, 2, 3, 4];
    const rows = [0, 2];
    expect((await ranked(cells, { rows })).rank).to.deep.equal([2, absent, 1, absent]);
    expect((await ranked(cells, { rows, among: 'all' })).rank).to.deep.equal([4, absent, 2, absent]);
  });

  it('ranks a number of the request as equal for all', async () => {
    const step = new FakeStep(3);
    const { rank } = await compute(new RankWithin(step.requestNumber(4), 'descending', 'all'), step);
    expect(rank).to.deep.equal([1, 1, 1]);
  });

  it('keeps nothing of a larger earlier request', async () => {
    const step = new FakeStep(3);
    const small = new FakeStep(1);
    const component = new RankWithin(step.number([9, 8, 7]), 'descending', 'remaining');
    small.number([1]);
    await compute(component, step);
    expect((await compute(component, small))['rank']).to.deep.equal([1]);
  });

  it('equals its definitions for any numbers', async () => {
    // The numbers are far apart, because the plain definition of the z-score loses digits and underflows for others.
    const apart = fc.integer({ min: -1e7, max: 1e7 }).map((value) => value / 1024);
    const number = fc.oneof(fc.integer({ min: -3, max: 3 }), apart);
    const cells = fc.array(fc.oneof({ weight: 4, arbitrary: number }, fc.constant(absent)), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(cells, fc.constantFrom('descending', 'ascending'), async (all, order) => {
        const found = await ranked(all, { order });
        const known = all.filter((cell) => typeof cell === 'number');
        all.forEach((value, row) => {
          if (typeof value !== 'number') return;
          const wanted = plain(value, known, order);
          expect(found.rank[row]).to.equal(wanted.rank);
          for (const output of ['percentile', 'share', 'z_score', 'min_max'] as const)
            expectClose(found[output][row], wanted[output], output);
        });
      }),
    );
  });

  it('is finite for every finite number, however large or small', async () => {
    const cells = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(cells, async (values) => {
        const found = await ranked(values);
        const differ = new Set(values.map((value) => value + 0)).size > 1;
        for (const row of values.keys()) {
          for (const output of ['z_score', 'min_max'] as const) {
            if (differ) expect(found[output][row]).to.satisfy(Number.isFinite);
            else expect(found[output][row]).to.deep.equal(absent);
          }
          expect(found.percentile[row]).to.be.within(0, 1);
        }
      }),
      { examples: [[[1.7e308, -1.7e308, 0]], [[5e-324, 0]], [[1.7e308, 1.7e308]]] },
    );
  });
});

function plain(value: number, all: readonly number[], order: Order) {
  const count = (test: (other: number) => boolean): number => all.filter(test).length;
  const isBetter = (other: number): boolean => (order === 'descending' ? other > value : other < value);
  const sum = all.reduce((total, one) => total + one, 0);
  const mean = sum / all.length;
  const deviation = Math.sqrt(all.reduce((total, one) => total + (one - mean) ** 2, 0) / all.length);
  const [min, max] = [Math.min(...all), Math.max(...all)];
  return {
    rank: 1 + count(isBetter),
    percentile:
      (count((other) => other !== value && !isBetter(other)) + count((other) => other === value) / 2) /
      all.length,
    share: min < 0 || max === 0 ? undefined : value / sum,
    z_score: min === max ? undefined : (value - mean) / deviation,
    min_max: min === max ? undefined : (value - min) / (max - min),
  };
}

function expectClose(
  found: Cell<number | string> | undefined,
  wanted: number | undefined,
  what: string,
): void {
  if (wanted === undefined) expect(found, what).to.deep.equal(absent);
  else expect(found, what).to.be.closeTo(wanted, 1e-6);
}
