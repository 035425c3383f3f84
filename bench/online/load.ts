import { strict as assert } from 'node:assert';
import { Client } from 'undici';
import type { OnlineAnswer } from '../../runtime/state/index/online-answer.js';
import { feastValue, materialise } from '../../test/support/feast-writer.js';
import { casesOf } from './cases.js';
import { post } from './post.js';
import { entityOf, FEATURES, FEATURES_OF_A_VIEW, idOf, MOST, valueOf, views, VIEWS } from './project.js';

/** Writes the same values in both layouts, and entities with many attributes. */
export async function load(url: string, redisUrl: string): Promise<void> {
  const client = new Client(url);
  const now = Date.now();
  const rows = Array.from({ length: MOST }, (_, row) => row);
  const valuesOf = (row: number, v: number): Record<string, number> =>
    Object.fromEntries(FEATURES.map((feature, f) => [feature, valueOf(row, v, f)]));
  for (const [v, view] of views('own').entries()) {
    const sent = rows.map((row) => ({
      product_id: idOf(row),
      // Event times spread over a few minutes, because rows are rarely written in one instant.
      event_time: now - 60_000 * (row % 50) - v,
      ...valuesOf(row, v),
    }));
    await post(client, '/api/v1/features/push', Buffer.from(JSON.stringify({ view, rows: sent })));
    await materialise(
      redisUrl,
      rows.map((row) => ({
        keys: [['product_id', 'string', idOf(row)]],
        view: `feast_${v}`,
        time: now - 60_000 * (row % 50) - v,
        features: Object.fromEntries(
          FEATURES.map((feature, f) => [feature, feastValue('double_val', valueOf(row, v, f))]),
        ),
      })),
    );
  }
  const entities = rows.map(entityOf);
  const body = Buffer.from(JSON.stringify({ entity_type: 'product', entities }));
  await post(client, '/api/v1/entities/upload', body);
  await client.close();
}

/** Checks that both layouts return every value with its status and time. */
export async function check(url: string): Promise<void> {
  for (const one of casesOf(MOST).filter(({ held }) => held)) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url + one.path, { method: 'POST', headers, body: one.body });
    const { results } = (await response.json()) as OnlineAnswer;
    assert.equal(results.length, 1 + VIEWS * FEATURES_OF_A_VIEW);
    for (const [i, { values, statuses, event_timestamps: times }] of results.slice(1).entries()) {
      const [v, f] = [Math.floor(i / FEATURES_OF_A_VIEW), i % FEATURES_OF_A_VIEW];
      assert.deepEqual(
        values,
        values.map((_, row) => valueOf(row, v, f)),
        one.name,
      );
      assert.equal(values.length, MOST);
      assert.ok(statuses.every((status) => status === 'PRESENT'));
      assert.equal(new Set(times).size, 50);
    }
  }
}
