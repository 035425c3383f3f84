import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FeatureComponent } from 'millrace/api';
import { absent, compute, createStep, FakeStep, stepTests } from 'millrace/testing';
import { plugins } from '../src/index.js';

const [cosine] = plugins;
assert.ok(cosine);
const options = { left: 'product.vector', right: 'user.vector' };

describe('cosine', () => {
  for (const { name, run } of stepTests(cosine, [{ with: options }])) it(name, run);

  it('compares each candidate with the user', async () => {
    const step = new FakeStep(4);
    const component = await createStep(cosine, {
      with: options,
      columns: {
        'product.vector': step.vector([[1, 0], [3, 4], [0, 0], absent], 2),
        'user.vector': step.requestVector([2, 0], 2),
      },
    });
    const { value } = await compute(component as FeatureComponent, step);
    assert.deepEqual(value, [1, 0.6, absent, absent]);
  });

  it('refuses vectors of two sizes at the option', async () => {
    const step = new FakeStep(1);
    const columns = { 'product.vector': step.vector([[1, 0]], 2), 'user.vector': step.requestVector([1], 1) };
    await assert.rejects(createStep(cosine, { with: options, columns }), { path: ['right'] });
  });
});
