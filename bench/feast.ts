import { strict as assert } from 'node:assert';
import { Redis } from 'ioredis';
import { Status } from '../runtime/api/status.js';
import type { FeatureView } from '../runtime/config/model.js';
import { SourceFile } from '../runtime/config/source.js';
import { openFeastSources } from '../runtime/feast/feast-sources.js';
import { decodeValue } from '../runtime/feast/feast-value.js';
import { featureField } from '../runtime/feast/hash-fields.js';
import { EntityKeyFormat } from '../runtime/feast/entity-key.js';
import { FeatureStore } from '../runtime/features/feature-store.js';
import { looseColumn } from '../runtime/frame/frame.js';
import { FeatureDecoder, type WantedFeature } from '../runtime/store/feature-decoder.js';
import { featureKey } from '../runtime/store/keys.js';
import { LayoutRegistry } from '../runtime/store/layout-registry.js';
import { connectRedisStore } from '../runtime/store/redis/redis-store.js';
import { feastValue, materialise } from '../test/support/feast-writer.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';

const ROWS = 1000;
const VIEWS = 5;
const FEATURES_OF_A_VIEW = 10;
const AT = { file: new SourceFile('bench', ''), start: 0, end: 0 };

/**
 * 1,000 rows × 50 features over 5 views, every value to its column with its status, its age checked: Feast's layout (a
 * hash for each entity, a field for each feature) through our reader, against our layout for the same numbers.
 */
export async function feastBench(short: boolean): Promise<void> {
  const server = await startRedisServer();
  const client = new Redis(server.url);
  const store = await connectRedisStore({ url: server.url });
  const sources = await openFeastSources([view(0, true)], { url: server.url });
  try {
    const ids = Array.from({ length: ROWS }, (_, i) => `product-${i}`);
    const value = (row: number, v: number, f: number): number => row + v / 10 + f / 128;
    const now = Date.now();
    const own = Array.from({ length: VIEWS }, (_, v) => view(v, false));
    const feast = Array.from({ length: VIEWS }, (_, v) => view(v, true));
    const layouts = new LayoutRegistry(store, 'bench');
    const types = new Map([
      ['product', { name: 'product', key: 'product_id', attributes: new Map(), at: undefined }],
    ]);
    const views = new Map(own.map((one) => [one.name, one]));
    const features = new FeatureStore({ store, layouts, prefix: 'bench', views, types });
    for (const [v, { name, features: declared }] of own.entries()) {
      const rows = ids.map((product_id, row) => ({
        product_id,
        event_time: now,
        ...Object.fromEntries([...declared.keys()].map((feature, f) => [feature, value(row, v, f)])),
      }));
      await features.push({ view: name, rows });
      await materialise(
        server.url,
        rows.map(({ product_id, event_time: time }, row) => ({
          keys: [['product_id', 'string', product_id]],
          view: name,
          time,
          features: Object.fromEntries(
            [...declared.keys()].map((feature, f) => [feature, feastValue('double_val', value(row, v, f))]),
          ),
        })),
      );
    }

    const columns = Array.from({ length: VIEWS * FEATURES_OF_A_VIEW }, () =>
      looseColumn({ kind: 'number', scope: 'candidate' }, ROWS),
    );
    const decoder = new FeatureDecoder(wantedOf(own));
    const reader = sources.readerOf(wantedOf(feast));
    const keys = ids.map((id) => [id]);
    const format = new EntityKeyFormat(3, [{ name: 'product_id', type: 'string' }], 'shop');
    const fields = feast.flatMap(({ name, features: declared }) =>
      [...declared.keys()].map((feature) => featureField(name, feature)),
    );
    const contestants: Contestant[] = [
      {
        name: 'ours: one record for each entity, MGET',
        async run() {
          const records = await store.read(
            ids.map((id) => featureKey('bench', 'features', ['product'], [id])),
          );
          records.forEach((record, row) => void decoder.decode(record, columns, row, now));
        },
      },
      {
        name: "Feast's layout, our reader",
        async run() {
          const rows = await reader.read(keys);
          for (let row = 0; row < ROWS; row++) rows.decode(row, columns, row, now);
        },
      },
      {
        name: "Feast's layout, HMGET in a pipeline, an object for each row",
        async run() {
          const pipeline = client.pipeline();
          for (const key of keys) pipeline.hmgetBuffer(format.encode(key) ?? Buffer.alloc(0), ...fields);
          const replies = (await pipeline.exec()) ?? [];
          const objects = replies.map(([, values]) =>
            Object.fromEntries(
              (values as readonly (Buffer | null)[]).map((one, i) => [
                i,
                one === null ? null : decodeValue(one).value,
              ]),
            ),
          );
          assert.equal(objects[7]?.[0], value(7, 0, 0));
        },
      },
    ];
    const measured = await measure(contestants, short ? 5 : 40);
    for (const [i, column] of columns.entries()) {
      assert.equal(column.status[ROWS - 1], Status.present);
      const [v, f] = [Math.floor(i / FEATURES_OF_A_VIEW), i % FEATURES_OF_A_VIEW];
      assert.equal(column.values[ROWS - 1], value(ROWS - 1, v, f));
    }
    const ours = median(measured[0]?.ms ?? []);
    console.log(`\n${ROWS} rows × ${columns.length} features over ${VIEWS} views, cold, ms\n`);
    console.log(
      table(
        ['', 'p50', 'p99', 'CPU here', 'p50 / ours'],
        measured.map((one) => [
          one.name,
          ms(median(one.ms)),
          ms(percentile(one.ms, 99)),
          ms(one.cpuMs),
          (median(one.ms) / ours).toFixed(1),
        ]),
      ),
    );
  } finally {
    client.disconnect();
    await sources.close();
    await store.close();
    await server.remove();
  }
}

function view(v: number, isFeast: boolean): FeatureView {
  const names = Array.from({ length: FEATURES_OF_A_VIEW }, (_, f) => `feature_${f}`);
  const name = `view_${v}`;
  return {
    name,
    of: ['product'],
    ttl: 3_600_000,
    expired: 'missing',
    group: 'features',
    features: new Map(
      names.map((one) => [one, { name: one, type: { kind: 'float' }, default: undefined, at: AT }]),
    ),
    ...(isFeast
      ? {
          source: {
            project: 'shop',
            url: undefined,
            keyVersion: 3,
            view: name,
            joinKeys: [{ name: 'product_id', type: 'string' }],
            fields: new Map(),
          },
        }
      : {}),
    at: AT,
  };
}

function wantedOf(views: readonly FeatureView[]): WantedFeature[] {
  return views.flatMap((one) => Array.from(one.features.values(), (feature) => ({ view: one, feature })));
}
