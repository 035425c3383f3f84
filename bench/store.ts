import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { compileProject } from '../runtime/serve/app/project/compile-project.js';
import { createApp } from '../runtime/serve/app/app.js';
import type { Plan } from '../runtime/request/compile/plan.js';
import { loadSettings, type Settings } from '../runtime/project/settings/settings.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { blobRecords, itemKey, readBlobs, statsKey } from './naive/blob-reader.js';
import { candidatesOf, catalogue, type Catalogue } from './support/catalogue.js';
import { loadCatalogue } from './support/load-catalogue.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';
import { StoreReader } from './support/store-reader.js';

const PROJECT = fileURLToPath(new URL('../../bench/project', import.meta.url));
const SHARES = [0, 0.5, 0.9, 1];
/** The number of different requests of each size. */
const REQUESTS = 16;

/**
 * Measures reads alone, from ids to filled columns: two keys per candidate, and its maker. It compares JSON blobs,
 * Millrace's records, the same records with a part of the candidates in the resident table, and the embedded store,
 * in one run.
 */
export async function storeBench(short: boolean): Promise<void> {
  const data = catalogue(short ? 5_000 : 50_000);
  const server = await startRedisServer();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const client = new Redis(server.url);
  const readers: StoreReader[] = [];
  try {
    const settings = (store: 'redis' | 'embedded'): Settings =>
      loadSettings(
        { REDIS_URL: server.url, LOG_LEVEL: 'silent', MILLRACE_RESIDENT: 'off' },
        { project: PROJECT, store, dataDir: join(folder, store) },
      );
    for (const store of ['redis', 'embedded'] as const) {
      const app = await createApp(settings(store));
      await loadCatalogue(app, data);
      await app.close();
    }
    const blobs = [...blobRecords(data)];
    for (let i = 0; i < blobs.length; i += 5000) await client.mset(new Map(blobs.slice(i, i + 5000)));
    await printBytes(client, data);

    const plan = await benchPlan();
    const open = async (store: 'redis' | 'embedded', resident: boolean): Promise<StoreReader> => {
      const reader = await StoreReader.open(settings(store), plan, resident);
      readers.push(reader);
      return reader;
    };
    const plain = await open('redis', false);
    const kept = await open('redis', true);
    const embedded = await open('embedded', false);
    await kept.untilCurrent();
    for (let i = 0; i < data.items.length; i += 1000)
      await kept.read(kept.request(data.items.slice(i, i + 1000).map(({ item_id }) => item_id)));
    console.log(`\ncached in process: ${kept.describeTables()}\n`);
    for (const count of short ? [1000] : [1000, 100, 24])
      await compare(data, count, { client, plain, kept, embedded }, short ? 20 : 150);
  } finally {
    client.disconnect();
    for (const reader of readers) await reader.close();
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchPlan(): Promise<Plan> {
  const { pipelines } = await compileProject(PROJECT);
  const [first] = pipelines;
  if (first === undefined) throw new Error('expected a pipeline in the bench project');
  return first.plan;
}

async function compare(
  { items }: Catalogue,
  count: number,
  sides: {
    readonly client: Redis;
    readonly plain: StoreReader;
    readonly kept: StoreReader;
    readonly embedded: StoreReader;
  },
  rounds: number,
): Promise<void> {
  const { client, plain, kept, embedded } = sides;
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    candidatesOf(items, count, i).map(({ item_id }) => item_id),
  );
  const makerOf = new Map(items.map(({ item_id, maker }) => [item_id, maker]));
  const mget = (keys: string[]): Promise<(string | null)[]> => client.mget(keys);
  const turn = (): (() => readonly string[]) => {
    let round = 0;
    return () => requests[round++ % REQUESTS] ?? [];
  };

  const [some = []] = requests;
  const truth = (await readBlobs(mget, some)).map(({ price, features, maker }) => [
    price,
    features['f00'],
    features['f19'],
    maker.rating,
  ]);
  for (const reader of [plain, kept, embedded])
    assert.deepEqual(await reader.valuesOf(some), truth, 'all readers return the same values');

  const next = turn();
  const trips = new Map<string, string>([['JSON blobs, redis', `2 / ${keysOf(some, makerOf)}`]]);
  const ours = (name: string, reader: StoreReader, share?: number): Contestant => {
    const ids = turn();
    let request = reader.request(some);
    return {
      name,
      prepare() {
        request = reader.request(ids());
        if (share !== undefined) reader.forget(request.ids.slice(Math.round(share * count)), makerOf);
      },
      async run() {
        const { roundTrips, keysRead } = await reader.read(request);
        trips.set(name, `${roundTrips} / ${keysRead}`);
      },
    };
  };
  const measured = await measure(
    [
      {
        name: 'JSON blobs, redis',
        run: async () => {
          await readBlobs(mget, next());
        },
      },
      ours('records, redis', plain),
      ...SHARES.map((share) => ours(`… table, ${100 * share} % hits`, kept, share)),
      ours('records, embedded', embedded),
    ],
    rounds,
  );
  const base = median(measured[0]?.ms ?? []);
  console.log(`${count} candidates of ${items.length}, ${rounds} rounds, milliseconds\n`);
  console.log(
    table(
      ['', 'p50', 'p99', 'of blobs', 'CPU', 'trips / keys'],
      measured.map(({ name, ms: times, cpuMs }) => [
        name,
        ms(median(times)),
        ms(percentile(times, 99)),
        (median(times) / base).toFixed(2),
        ms(cpuMs),
        trips.get(name) ?? '',
      ]),
    ),
  );
  console.log('');
}

function keysOf(ids: readonly string[], makerOf: ReadonlyMap<string, string>): number {
  return 2 * ids.length + new Set(ids.map((id) => makerOf.get(id))).size;
}

/** Measures the memory of an entity in Redis, as Redis reports it: key, value and overhead; the mean of a sample. */
async function printBytes(client: Redis, { items }: Catalogue): Promise<void> {
  const sample = items
    .filter((_, i) => i % Math.ceil(items.length / 500) === 0)
    .map(({ item_id }) => item_id);
  const mean = async (keyOf: (id: string) => string): Promise<number> => {
    let sum = 0;
    for (const id of sample) sum += (await client.memory('USAGE', keyOf(id), 'SAMPLES', 0)) ?? 0;
    return sum / sample.length;
  };
  const rows = [
    ['attributes', (id: string) => `millrace:entity:item:${id}`, itemKey],
    ['20 features', (id: string) => `millrace:features:item:${id}`, statsKey],
  ] as const;
  const sums = [0, 0];
  const cells: string[][] = [];
  for (const [name, ours, blob] of rows) {
    const [a, b] = [await mean(ours), await mean(blob)];
    sums[0] = (sums[0] ?? 0) + a;
    sums[1] = (sums[1] ?? 0) + b;
    cells.push([name, a.toFixed(0), b.toFixed(0), (a / b).toFixed(2)]);
  }
  const [a = NaN, b = NaN] = sums;
  cells.push(['an entity', a.toFixed(0), b.toFixed(0), (a / b).toFixed(2)]);
  console.log(`\nbytes in Redis (MEMORY USAGE), mean of ${sample.length} items\n`);
  console.log(table(['', 'records', 'JSON', 'of JSON'], cells));
}
