import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FeatureComponent } from 'millrace/api';
import { absent, compute, createStep, FakeHttp, FakeServices, FakeStep, stepTests } from 'millrace/testing';
import { plugins } from '../src/index.js';

const [remoteScorer] = plugins;
assert.ok(remoteScorer);
const options = { url: 'http://scorer:8080/score', features: { 'product.price': 'price' } };

/** A server that answers with twice the price. */
const doubling = (): FakeHttp =>
  new FakeHttp(({ body }) => {
    const { rows } = JSON.parse(String(body)) as { rows: (number | null)[][] };
    return { body: { scores: rows.map(([price]) => (typeof price === 'number' ? 2 * price : null)) } };
  });

async function scored(http: FakeHttp, services = new FakeServices()): Promise<unknown> {
  const step = new FakeStep(3);
  const columns = { 'product.price': step.number([1, absent, 3]) };
  const setup = { with: options, columns, http, services: services.services };
  const component = (await createStep(remoteScorer!, setup)) as FeatureComponent;
  return (await compute(component, step)).score;
}

describe('remote_scorer', () => {
  for (const { name, run } of stepTests(remoteScorer, [{ with: options, http: doubling() }])) it(name, run);

  it('sends what is known and takes the scores', async () => {
    const [http, services] = [doubling(), new FakeServices()];
    assert.deepEqual(await scored(http, services), [2, absent, 6]);
    assert.deepEqual(JSON.parse(String(http.sent[0]?.body)), { names: ['price'], rows: [[1], [null], [3]] });
    assert.deepEqual(services.samples, [{ metric: 'scored', value: 3, labels: {} }]);
  });

  it('fails if the server answers with something else', async () => {
    await assert.rejects(scored(new FakeHttp(() => ({ status: 500 }))), /status 500/);
    await assert.rejects(scored(new FakeHttp(() => ({ body: { scores: [1] } }))), /without 3 scores/);
    await assert.rejects(scored(new FakeHttp(() => ({ body: 'no JSON' }))), SyntaxError);
  });
});
