import { expect } from 'chai';
import fc from 'fast-check';
import { plugin } from '../../../../plugins/fuse/index.js';
import type { FeatureComponent } from '../../../../runtime/ground/api/component.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

type Cells = readonly Cell<number>[];

const expired = { status: Status.expired } as const;

async function fused(
  inputs: readonly Cells[],
  options: object = {},
  weights: readonly number[] = inputs.map(() => 1),
  rows?: readonly number[],
): Promise<readonly Cell<number | string>[] | undefined> {
  const step = new FakeStep(inputs[0]?.length ?? 0, rows);
  const parts = inputs.map((cells, i) => ({ input: step.number(cells), value: weights[i] }));
  const component = await createComponent(plugin, { method: 'rrf', inputs: parts, ...options });
  return (await compute(component as FeatureComponent, step))['score'];
}

const numbers = (cells: readonly Cell<number | string>[] = []): number[] =>
  cells.map((cell) => (typeof cell === 'number' ? cell : NaN));

describe('fuse', () => {
  it('adds reciprocal ranks with k 60 by default; ties share the better rank', async () => {
    const scores = numbers(
      await fused([
        [9, 5, 5, 1],
        [1, 2, 3, 4],
      ]),
    );
    const expected = [1 / 61 + 1 / 64, 1 / 62 + 1 / 63, 1 / 62 + 1 / 62, 1 / 64 + 1 / 61];
    scores.forEach((score, row) => expect(score).to.be.closeTo(expected[row] ?? NaN, 1e-15));
    expect(await fused([[9, 5]], { k: 1 }, [6])).to.deep.equal([3, 2]);
  });

  it('treats an absent value as one that is not in the list', async () => {
    expect(
      await fused(
        [
          [3, absent, 1, expired],
          [absent, 2, 4, absent],
        ],
        { k: 1 },
      ),
    ).to.deep.equal([1 / 2, 1 / 3, 1 / 3 + 1 / 2, expired]);
  });

  it('adds scaled values multiplied by their weights', async () => {
    expect(
      await fused(
        [
          [0, 5, 10],
          [300, 200, 100],
        ],
        { method: 'min_max' },
        [1, 0.5],
      ),
    ).to.deep.equal([0.5, 0.75, 1]);
    const [low, middle, high] = numbers(await fused([[1, 2, 3]], { method: 'z_score' }, [2]));
    expect(middle).to.be.closeTo(0, 1e-15);
    expect(high).to.be.closeTo(2 / Math.sqrt(2 / 3), 1e-12);
    expect(low).to.be.closeTo(-2 / Math.sqrt(2 / 3), 1e-12);
  });

  it('gives no weighted score if a value is missing, unless there is a replacement', async () => {
    const inputs: Cells[] = [
      [0, absent, 10, expired],
      [1, 2, absent, absent],
    ];
    expect(await fused(inputs, { method: 'min_max' })).to.deep.equal([0, absent, absent, expired]);
    expect(await fused(inputs, { method: 'min_max', missing: 0.5 }, [1, 2])).to.deep.equal([0, 2.5, 2, 1.5]);
  });

  it('ignores an input whose values are all equal', async () => {
    expect(await fused([[7, 7, 7]], { method: 'min_max' })).to.deep.equal([0, 0, 0]);
    expect(
      await fused(
        [
          [7, absent, 7],
          [1, 2, 3],
        ],
        { method: 'z_score', missing: 0 },
      ),
    ).to.have.length(3);
    expect(await fused([[7]], { method: 'z_score' })).to.deep.equal([0]);
    expect(await fused([[7, 7]], { k: 1 })).to.deep.equal([0.5, 0.5]);
  });

  it('compares only the rows of the step', async () => {
    expect(await fused([[100, 1, 2, 3]], { method: 'min_max' }, [1], [1, 2, 3])).to.deep.equal([
      absent,
      0,
      0.5,
      1,
    ]);
  });

  it('refuses options of another method', async () => {
    for (const [options, place] of [
      [{ method: 'min_max', k: 1 }, 'k'],
      [{ method: 'rrf', missing: 0 }, 'missing'],
    ] as const) {
      const error = await fused([[1]], options).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OptionError);
      expect((error as OptionError).path).to.deep.equal([place]);
    }
  });

  it('equals its definition for every order of the rows', async () => {
    const cell = fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell, fc.double({ min: -5, max: 5, noNaN: true })), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 100 }),
        async (rows, k) => {
          const lists = [0, 1, 2].map((i) => rows.map((row) => row[i]));
          const weights = [1, 2, 0.5];
          const inputs = lists.map((list) => list.map((value) => value ?? absent));
          const scores = numbers(await fused(inputs, { k }, weights));
          rows.forEach((row, at) => {
            let expected = 0;
            lists.forEach((list, i) => {
              const own = row[i];
              if (own === undefined) return;
              const better = list.filter((other) => other !== undefined && other > own).length;
              expected += (weights[i] ?? 0) / (k + 1 + better);
            });
            expect(scores[at]).to.be.closeTo(expected, 1e-12);
          });
          const turned = numbers(
            await fused(
              inputs.map((list) => [...list].reverse()),
              { k },
              weights,
            ),
          );
          expect(turned.reverse()).to.deep.equal(scores);
        },
      ),
    );
  });
});
