import { expect } from 'chai';
import fc from 'fast-check';
import { plugin as boostBounds } from '../../../plugins/boost_bounds/index.js';
import { plugin as dedupe } from '../../../plugins/dedupe/index.js';
import { plugin as diversify } from '../../../plugins/diversify/index.js';
import { likenessOf } from '../../../plugins/diversify/likeness.js';
import { plugin as group } from '../../../plugins/group/index.js';
import { plugin as limit } from '../../../plugins/limit/index.js';
import { plugin as pin } from '../../../plugins/pin/index.js';
import { plugin as slot } from '../../../plugins/slot/index.js';
import type { Plugin } from '../../../runtime/ground/api/plugin.js';
import type { RuleComponent, RuleReport } from '../../../runtime/ground/api/component.js';
import { createStep, type StepSetup } from '../../../runtime/cli/testing/create-step.js';
import { stepTests, type StepExample } from '../../../runtime/cli/testing/step-tests.js';
import { absent, FakeRanking, FakeStep } from '../../support/step-input.js';

const TEXT = { kinds: { 'product.brand': 'text', 'product.tags': 'texts' } } as const;

const EXAMPLES: readonly (readonly [Plugin, readonly StepExample[]])[] = [
  [
    limit,
    [
      { with: { by: 'product.brand', most: 1 }, ...TEXT },
      { with: { by: 'product.size', most: 2, within: 3 } },
    ],
  ],
  [dedupe, [{ with: { by: 'product.brand' }, ...TEXT }]],
  [group, [{ with: { by: 'product.brand', show: 'product.price' }, ...TEXT }]],
  [slot, [{ with: { positions: [2, 9], where: 'product.is_new', min_score: 0 } }]],
  [
    diversify,
    [
      { with: { by: 'product.brand' }, ...TEXT },
      { with: { by: 'product.tags', window: 2 }, ...TEXT },
    ],
  ],
  [boostBounds, [{ with: { base: 'product.rating', add: [-1, 1], multiply: [0.5, 2] } }]],
  [pin, [{ with: { ids: 'request.pinned' } }]],
];

/** Applies a rule to candidates with falling scores. @returns the rows in their final order */
async function placed(
  plugin: Plugin,
  options: StepSetup['with'],
  columns: (step: FakeStep) => NonNullable<StepSetup['columns']>,
  count: number,
): Promise<{ readonly rows: number[]; readonly report: RuleReport }> {
  const step = new FakeStep(count);
  const component = (await createStep(plugin, {
    with: options ?? {},
    columns: columns(step),
  })) as RuleComponent;
  const ranking = new FakeRanking(Array.from({ length: count }, (_, row) => count - row));
  const report = await component.apply(step, ranking);
  return { rows: [...ranking.final()], report };
}

describe('rules of the order', () => {
  for (const [plugin, examples] of EXAMPLES)
    describe(plugin.name, () => {
      for (const { name, run } of stepTests(plugin, examples)) it(name, run);
    });

  it('limit counts texts and numbers, and leaves unknown values alone', async () => {
    const brands = ['a', 'a', absent, absent, 'b'];
    const found = await placed(
      limit,
      { by: 'b', most: 1, within: 3 },
      (step) => ({ b: step.text(brands) }),
      5,
    );
    expect(found).to.deep.equal({ rows: [0, 2, 3, 1, 4], report: { applied: 3, skipped: 2 } });
    const sizes = await placed(
      limit,
      { by: 's', most: 1, within: 2 },
      (step) => ({ s: step.number([7, 7, 8]) }),
      3,
    );
    expect(sizes.rows).to.deep.equal([0, 2, 1]);
  });

  it('dedupe keeps the best, group the preferred variant', async () => {
    const titles = (step: FakeStep) => ({
      t: step.text(['x', 'y', 'x', absent]),
      p: step.number([1, absent, 2, 9]),
    });
    expect((await placed(dedupe, { by: 't' }, titles, 4)).rows).to.deep.equal([0, 1, 3]);
    expect((await placed(group, { by: 't', show: 'p' }, titles, 4)).rows).to.deep.equal([2, 1, 3]);
  });

  it('diversify compares vectors that repeat as it compares others', () => {
    const element = fc.constantFrom(0, 1, -2, 0.5, NaN);
    const pool = fc.array(fc.array(element, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pool, fc.array(fc.nat(), { minLength: 1, maxLength: 12 }), (vectors, picks) => {
        const rows = picks.map((pick) => vectors[pick % vectors.length] ?? []);
        const step = new FakeStep(rows.length);
        const { compare, known } = likenessOf(step, step.vector(rows, 3));
        const length = (vector: readonly number[]): number => Math.hypot(...vector);
        expect(known).to.equal(rows.filter((row) => length(row) > 0).length);
        const alike = new Float64Array(rows.length);
        for (const [at, own] of rows.entries()) {
          compare(at, Int32Array.from(rows.keys()), rows.length, alike);
          for (const [i, other] of rows.entries()) {
            const product = own.reduce((sum, value, j) => sum + value * (other[j] ?? 0), 0);
            const cosine = product / (length(own) * length(other));
            expect(alike[i]).to.be.closeTo(Number.isFinite(cosine) ? cosine : 0, 1e-12);
          }
        }
      }),
    );
  });

  it('diversify compares vectors by cosine and lists by Jaccard', async () => {
    const options = { by: 'v', relevance: 0 };
    const vectors = [[1, 0], [2, 0], [0, 3], absent];
    const byVector = await placed(diversify, options, (step) => ({ v: step.vector(vectors, 2) }), 4);
    expect(byVector).to.deep.equal({ rows: [0, 2, 3, 1], report: { applied: 3, skipped: 1 } });
    const lists = [['a', 'b'], ['b', 'a', 'a'], ['a', 'c'], ['d']];
    const byList = await placed(diversify, options, (step) => ({ v: step.texts(lists) }), 4);
    expect(byList.rows).to.deep.equal([0, 3, 2, 1]);
  });

  it('boost_bounds moves scores back into the bounds, also around 0 and below', async () => {
    const step = new FakeStep(4);
    const columns = { base: step.number([2, 0, -2, absent]) };
    const options = { base: 'base', multiply: [0.5, 2] };
    const component = (await createStep(boostBounds, { with: options, columns })) as RuleComponent;
    const ranking = new FakeRanking([9, 5, -9, 7]);
    expect(await component.apply(step, ranking)).to.deep.equal({ applied: 3, skipped: 1 });
    expect([...ranking.scores]).to.deep.equal([4, 0, -3, 7]);
  });
});
