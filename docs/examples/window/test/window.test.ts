import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuleComponent } from 'millrace/api';
import { absent, createStep, FakeRanking, FakeStep, stepTests, type Cell } from 'millrace/testing';
import { plugins } from '../src/index.js';

const [windowRule] = plugins;
assert.ok(windowRule);
const options = { of: 'product.brand', most: 1, within: 3 };

/** The brands of the candidates in their new order. The first has the highest score. */
async function arranged(brands: readonly Cell<string>[], given = options): Promise<unknown[]> {
  const step = new FakeStep(brands.length);
  const columns = { 'product.brand': step.text(brands) };
  const component = (await createStep(windowRule!, { with: given, columns })) as RuleComponent;
  const ranking = new FakeRanking(brands.map((_, row) => brands.length - row));
  await component.apply(step, ranking);
  return [...ranking.order()].map((row) => brands[row]);
}

describe('window', () => {
  for (const { name, run } of stepTests(windowRule, [{ with: options }, { with: { ...options, most: 2 } }]))
    it(name, run);

  it('keeps candidates of a brand apart', async () => {
    assert.deepEqual(await arranged(['a', 'a', 'a', 'b', 'b', 'c', 'c']), [
      'a',
      'b',
      'c',
      'a',
      'b',
      'c',
      'a',
    ]);
  });

  it('leaves an order that is allowed, and candidates without a brand', async () => {
    assert.deepEqual(await arranged(['a', absent, absent, 'a']), ['a', absent, absent, 'a']);
  });

  it('takes the best candidate if there is no other brand', async () => {
    assert.deepEqual(await arranged(['a', 'a', 'b']), ['a', 'b', 'a']);
  });

  it('has no window with too many, if there are enough brands', async () => {
    // A small generator, so that each run tries the same lists.
    let state = 7;
    const next = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    for (let round = 0; round < 50; round++) {
      const brands = Array.from({ length: 60 }, () => `b${next(20)}`);
      const order = await arranged(brands, { of: 'product.brand', most: 2, within: 4 });
      for (let start = 0; start + 4 <= 40; start++) {
        const counts = new Map<unknown, number>();
        for (const brand of order.slice(start, start + 4)) counts.set(brand, (counts.get(brand) ?? 0) + 1);
        assert.ok(Math.max(...counts.values()) <= 2, `places ${start} to ${start + 3}: ${order.join(' ')}`);
      }
    }
  });
});
