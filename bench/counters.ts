import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '../runtime/app/app.js';
import { loadSchemas } from '../runtime/config/project/load-project.js';
import type { CounterDefinition } from '../runtime/config/model/counters.js';
import { addEvents } from '../runtime/counters/apply-touches.js';
import { additionsOf, kindsOf } from '../runtime/counters/counted-kinds.js';
import { CounterDecoder } from '../runtime/counters/counter-decoder.js';
import { looseColumn } from '../runtime/frame/frame.js';
import { loadSettings } from '../runtime/settings/settings.js';
import {
  decodeCounters,
  encodeCounters,
  NO_COUNTERS,
  type CounterRecord,
} from '../runtime/store/codec/counter-record.js';
import { counterKey } from '../runtime/store/keys.js';
import { connectRedisStore } from '../runtime/store/redis/redis-store.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { PROJECT } from './service/data.js';
import { itemId, writeItemsProject } from './support/items-project.js';
import { table } from './support/measure.js';
import { measurePair, pairHead, summaryOf, type Pair, type Setup } from './support/pairs.js';

const ITEMS = 2_000;
const HOUR = 3_600_000;

const FEATURES = [
  'clicks_1h: { event: click, window: 1h }',
  'clicks_7d: { event: click, window: 7d }',
  'heat: { event: click, half_life: 12h }',
  'orders_30d: { event: order, window: 30d }',
  'items_30d: { event: order, window: 30d, value: sum(quantity) }',
  'ctr: { event: click, over: impression, window: 7d, prior: { weight: 100, mean: 0.05 } }',
];
const NAMES = FEATURES.map((line) => line.slice(0, line.indexOf(':')));

/** Keys of the bench of events: a spread of keys, and a few hot ones. */
const KEYS = [ITEMS, 10];

/**
 * Measures live counters: what six of them add to a request of 1,000 candidates, if the counters are cached with the items
 * (`cached`), the items alone (`warm`), or nothing (`cold`); how many events a core counts, and what a
 * hot record costs to read.
 * @param only `events` measures only how many events a core counts
 */
export async function countersBench(short: boolean, only?: string): Promise<void> {
  const folders: string[] = [];
  const redis = await startRedisServer();
  try {
    const counted = await project(true, folders);
    const rows: string[][] = [];
    for (const keys of KEYS)
      rows.push(await eventsPerSecond(counted, redis.url, keys, short ? 20_000 : 200_000));
    console.log(table(['keys', 'events per second of CPU of this process', 'events per second'], rows));
    if (only === 'events') return;
    const plain = await project(false, folders);
    const counter = await counterOf(counted);
    const record = recordOf(counter, 300);
    const store = await connectRedisStore({ url: redis.url });
    const all = Array.from({ length: ITEMS }, (_, i) => counterKey('millrace', ['item'], [itemId(i)]));
    await store.swap(
      all.map((key) => ({ key, before: null, after: encodeCounters(record, Date.now() + 900 * HOUR) })),
    );
    await store.close();

    const module = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
    const requests: string[][] = [];
    for (const [what, resident, lease] of [
      ['cached', 'all', '1000'],
      ['warm', 'all', '0'],
      ['cold', 'off', '0'],
    ] as const) {
      const env = { MILLRACE_RESIDENT: resident, MILLRACE_COUNTER_LEASE_MS: lease };
      const setup: Setup = {
        sides: [
          { module, env },
          { module, env: { ...env, MILLRACE_PROJECT: counted } },
        ],
        folder: plain,
        redisUrl: redis.url,
        clients: 1,
      };
      const pairs: Pair[] = [];
      for (let i = 0; i < (short ? 2 : 6); i++) pairs.push(await measurePair(setup, 1000, i));
      requests.push([what, ...summaryOf(1000, pairs)]);
    }
    console.log(table(['request', ...pairHead('none', '6 counters')], requests));
    hotRecords(counter, short);
  } finally {
    await redis.remove();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

async function project(counts: boolean, folders: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  folders.push(folder);
  await writeItemsProject(folder, PROJECT);
  if (!counts) return folder;
  await mkdir(join(folder, 'schemas/counters'), { recursive: true });
  const lines = ['counter: live', 'of: [item]', 'features:', ...FEATURES.map((line) => `  ${line}`)];
  await writeFile(join(folder, 'schemas/counters/live.yaml'), `${lines.join('\n')}\n`);
  const path = join(folder, 'pipelines/items.yaml');
  const text = await readFile(path, 'utf8');
  const sum = NAMES.map((name) => `live:${name}`).join(' + ');
  await writeFile(
    path,
    text
      .replace('features: [item_stats]', 'features: [item_stats, live]')
      .replace("value: 'ltr:score'", `value: 'ltr:score + 0 * (${sum})'`),
  );
  return folder;
}

async function counterOf(folder: string): Promise<CounterDefinition> {
  const { config } = await loadSchemas(folder);
  const counter = config?.counters.get('live');
  if (counter === undefined) throw new Error('the project of the bench has errors');
  return counter;
}

/** A record with events of the last thirty days, so that every bucket is used. */
function recordOf(
  counter: CounterDefinition,
  events: number,
  first: CounterRecord = NO_COUNTERS,
): CounterRecord {
  const now = Date.now();
  const kinds = kindsOf([[counter, 0]]);
  let record = first;
  const names = ['impression', 'click', 'order'];
  const spans = [HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR];
  for (let done = 0; done < events;) {
    const touches = [];
    for (; touches.length < 10_000 && done < events; done++) {
      const event = names[done % 3] ?? '';
      const [kind] = kinds.get(event) ?? [];
      const time = now - ((done * 7919) % 1000) * 0.000999 * (spans[Math.floor(done / 3) % 3] ?? HOUR);
      const additions = additionsOf(kind?.entity ?? [], {
        ...{ event, subject: { type: 'item', id: 'i' }, owners: [], quantity: 1, position: 1 + (done % 24) },
        values: new Map(),
      });
      touches.push({ identity: [done, 1] as const, time, additions });
    }
    ({ record } = addEvents(record, touches, now));
  }
  return record;
}

/**
 * Feedback of 100 events a body, from the check of the body to the acknowledgement of the store. First, every record gets
 * so many events that the ids of some are remembered beside it.
 */
async function eventsPerSecond(
  folder: string,
  redisUrl: string,
  keys: number,
  events: number,
): Promise<string[]> {
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', REDIS_URL: redisUrl, MILLRACE_PREFIX: `events${keys}` },
    { project: folder },
  );
  const app = await createApp(settings);
  try {
    const send = async (body: number): Promise<void> => {
      await app.feedback.record({
        request_id: `r${body}`,
        user: null,
        events: Array.from({ length: 100 }, (_, i) => ({
          type: i % 10 === 0 ? 'click' : 'impression',
          event_id: `${body} ${i}`,
          item: { item_id: itemId((body * 31 + i * 17) % keys) },
          position: 1 + i,
        })),
      });
    };
    const run = async (from: number, bodies: number): Promise<void> => {
      let next = from;
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          while (next < from + bodies) await send(next++);
        }),
      );
    };
    const first = Math.max(100, (keys * 40) / 100);
    await run(0, first);
    const cpu = process.cpuUsage();
    const began = performance.now();
    await run(first, events / 100);
    const { user, system } = process.cpuUsage(cpu);
    const elapsed = (performance.now() - began) / 1000;
    return [keys, (events * 1e6) / (user + system), events / elapsed].map((one) => one.toFixed(0));
  } finally {
    await app.close();
  }
}

/** What a record costs to read, by the number of its events. */
function hotRecords(counter: CounterDefinition, short: boolean): void {
  const rows = [10, 1000, 100_000, ...(short ? [] : [10_000_000])].map((events) => {
    const record = encodeCounters(recordOf(counter, events), Date.now() + HOUR);
    const wanted = [...counter.features.values()].map((feature) => ({ counter, feature }));
    const decoder = new CounterDecoder(wanted);
    const columns = wanted.map(() => looseColumn({ kind: 'number', scope: 'candidate' }, 1));
    const rounds = 200_000;
    const now = Date.now();
    const read = (): void => {
      decoder.begin(null, 0, 0, now);
      for (let i = 0; i < rounds; i++) decoder.decode(record, 0, record.length, columns, 0);
    };
    read();
    const began = performance.now();
    read();
    const ns = ((performance.now() - began) * 1e6) / rounds;
    const series = decodeCounters(record)?.series.length ?? 0;
    return [String(events), String(record.length), String(series), ns.toFixed(0)];
  });
  console.log(table(['events of the key', 'bytes', 'series', 'ns to read 6 features'], rows));
}
