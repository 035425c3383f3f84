import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '../runtime/serve/app/app.js';
import { loadSchemas } from '../runtime/project/config/project/load-project.js';
import type { CounterDefinition } from '../runtime/project/config/model/counters.js';
import { addEvents } from '../runtime/state/counters/apply-touches.js';
import { additionsOf, kindsOf } from '../runtime/state/counters/counted-kinds.js';
import { CounterDecoder } from '../runtime/state/counters/counter-decoder.js';
import { looseColumn } from '../runtime/language/frame/frame.js';
import { loadSettings } from '../runtime/project/settings/settings.js';
import {
  decodeCounters,
  encodeCounters,
  NO_COUNTERS,
  type CounterRecord,
} from '../runtime/state/store/codec/counter-record.js';
import { counterKey } from '../runtime/state/store/keys.js';
import { connectRedisStore } from '../runtime/state/store/redis/redis-store.js';
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

/** How feedback arrives in the bench of events. */
interface Traffic {
  readonly store: 'redis' | 'embedded';
  /** Events in each body. */
  readonly size: number;
  /** How many records the events are spread over. */
  readonly keys: number;
  /** Bodies in flight. */
  readonly clients: number;
}

const TRAFFIC: readonly Traffic[] = (['redis', 'embedded'] as const).flatMap((store) => [
  { store, size: 100, keys: ITEMS, clients: 8 },
  { store, size: 100, keys: 10, clients: 8 },
  { store, size: 1000, keys: ITEMS, clients: 8 },
  { store, size: 1, keys: ITEMS, clients: 64 },
  { store, size: 1, keys: 1, clients: 64 },
  { store, size: 1, keys: ITEMS, clients: 8 },
  { store, size: 1, keys: 1, clients: 8 },
]);

/** What a request finds in the process: its candidates and their counters, its candidates, or nothing. */
const REQUESTS = {
  cached: { MILLRACE_RESIDENT: 'all', MILLRACE_COUNTER_LEASE_MS: '1000' },
  warm: { MILLRACE_RESIDENT: 'all', MILLRACE_COUNTER_LEASE_MS: '0' },
  cold: { MILLRACE_RESIDENT: 'off', MILLRACE_COUNTER_LEASE_MS: '0' },
} as const;

type Request = keyof typeof REQUESTS;
const REQUEST_NAMES = Object.keys(REQUESTS) as Request[];
const PARTS = ['events', ...REQUEST_NAMES, 'hot'];

/** A folder for the files of a bench. */
type NewFolder = () => Promise<string>;

/**
 * Measures live counters: how many events a core counts (`events`); what six counters add to a request of 1,000 candidates, if
 * the counters are cached with the items (`cached`), the items alone (`warm`), or nothing (`cold`); and what a hot record costs
 * to read (`hot`).
 * @param only the part to measure; by default, all of them
 */
export async function countersBench(short: boolean, only?: string): Promise<void> {
  if (only !== undefined && !PARTS.includes(only))
    throw new Error(`the bench of counters has no part ${only}; its parts are ${PARTS.join(', ')}`);
  const isWanted = (part: string): boolean => only === undefined || only === part;
  const folders: string[] = [];
  const newFolder: NewFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
    folders.push(folder);
    return folder;
  };
  const redis = await startRedisServer();
  try {
    const counted = await project(true, newFolder);
    const counter = await counterOf(counted);
    if (isWanted('events')) await countedEvents(counted, redis.url, newFolder, short);
    const requests = REQUEST_NAMES.filter(isWanted);
    if (requests.length > 0) {
      await fillRecords(counter, redis.url);
      const plain = await project(false, newFolder);
      await comparedRequests(requests, [plain, counted], redis.url, short);
    }
    if (isWanted('hot')) hotRecords(counter, short);
  } finally {
    await redis.remove();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

async function countedEvents(
  folder: string,
  redisUrl: string,
  newFolder: NewFolder,
  short: boolean,
): Promise<void> {
  const rows: string[][] = [];
  for (const traffic of TRAFFIC) {
    const place =
      traffic.store === 'redis'
        ? { REDIS_URL: redisUrl, MILLRACE_PREFIX: `events${rows.length}` }
        : { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: await newFolder() };
    const rates = await eventsPerSecond(folder, place, traffic, short ? 20_000 : 60_000);
    const { store, size, keys, clients } = traffic;
    rows.push([store, ...[size, keys, clients, ...rates].map((one) => one.toFixed(0))]);
  }
  console.log(
    table(['store', 'events a body', 'keys', 'bodies in flight', 'events/s of CPU', 'events/s'], rows),
  );
}

/** Gives every item a record. */
async function fillRecords(counter: CounterDefinition, redisUrl: string): Promise<void> {
  const record = recordOf(counter, 300);
  const store = await connectRedisStore({ url: redisUrl });
  const all = Array.from({ length: ITEMS }, (_, i) => counterKey('millrace', ['item'], [itemId(i)]));
  await store.swap(
    all.map((key) => ({ key, before: null, after: encodeCounters(record, Date.now() + 900 * HOUR) })),
  );
  await store.close();
}

/** @param folders the project without counters, and with them */
async function comparedRequests(
  requests: readonly Request[],
  [plain, counted]: readonly [string, string],
  redisUrl: string,
  short: boolean,
): Promise<void> {
  const module = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const rows: string[][] = [];
  for (const request of requests) {
    const env = REQUESTS[request];
    const setup: Setup = {
      sides: [
        { module, env },
        { module, env: { ...env, MILLRACE_PROJECT: counted } },
      ],
      folder: plain,
      redisUrl,
      clients: 1,
    };
    const pairs: Pair[] = [];
    for (let i = 0; i < (short ? 2 : 6); i++) pairs.push(await measurePair(setup, 1000, i));
    rows.push([request, ...summaryOf(1000, pairs)]);
  }
  console.log(table(['request', ...pairHead('none', '6 counters')], rows));
}

async function project(counts: boolean, newFolder: NewFolder): Promise<string> {
  const folder = await newFolder();
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
 * Counts feedback from the check of the body to the acknowledgement of the store. First, every record gets so many events that
 * the ids of some are remembered beside it.
 * @param place the settings of the store
 * @returns events for each second of CPU of this process, and for each second
 */
async function eventsPerSecond(
  folder: string,
  place: Readonly<Record<string, string>>,
  { size, keys, clients }: Traffic,
  events: number,
): Promise<[ofCpu: number, ofTime: number]> {
  const app = await createApp(loadSettings({ LOG_LEVEL: 'silent', ...place }, { project: folder }));
  try {
    const send = async (body: number, length: number): Promise<void> => {
      await app.feedback.record({
        request_id: `r${body}`,
        user: null,
        events: Array.from({ length }, (_, i) => ({
          type: (body + i) % 10 === 0 ? 'click' : 'impression',
          event_id: `${body} ${i}`,
          item: { item_id: itemId((body * 31 + i * 17) % keys) },
          position: 1 + (i % 100),
        })),
      });
    };
    let next = 0;
    const run = async (count: number, length: number): Promise<void> => {
      const end = next + Math.ceil(count / length);
      const client = async (): Promise<void> => {
        while (next < end) await send(next++, length);
      };
      await Promise.all(Array.from({ length: clients }, client));
    };
    await run(Math.max(2_000, keys * 40), 100);
    await run(events / 10, size);
    const cpu = process.cpuUsage();
    const began = performance.now();
    await run(events, size);
    const { user, system } = process.cpuUsage(cpu);
    const elapsed = (performance.now() - began) / 1000;
    return [(events * 1e6) / (user + system), events / elapsed];
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
