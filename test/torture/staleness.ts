import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Redis } from 'ioredis';
import { createApp } from '../../runtime/app.js';
import { loadSettings } from '../../runtime/settings.js';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import { startTrackingProxy } from '../support/tracking-proxy.js';
import type { Command, InstanceData, PhaseFigures } from './staleness/instance.js';
import { SharedHistory } from './staleness/shared-history.js';
import { Verdict } from './support/figures.js';

/**
 * Two instances with resident tables over one Redis, four writers and two readers in each, every write and ranking held
 * against a history: clean, and with the invalidation connections killed, paused and half-open.
 *
 *     node dist/test/torture/staleness.js [--short]
 */
const SHORT = process.argv.includes('--short');
const PHASE = SHORT ? { milliseconds: 4_000, calls: Infinity } : { milliseconds: 600_000, calls: 125_000 };
const ITEMS = 2_000;
const INSTANCES = 2;
const WRITERS = 4;
const READERS = 2;
/** What may pass, at the 99th percentile, before another instance shows a write. */
const MOST_LAG = 50;

const FILES = {
  'schemas/entities/item.yaml': `entity: item
attributes: { v: int, w: int, text: string }
`,
  'schemas/features/stats.yaml': `view: stats
of: [item]
features: { v: int, w: int }
`,
  'pipelines/versions.yaml': `pipeline: versions
rank: item
request: { candidates: {} }
limits: { candidates: 1000, time: 20s }
features: [stats]
components:
  - use: score
    with:
      value: if(item.v == item.w and stats:v == stats:w, item.v * 10000000 + stats:v, -1)
page: { size: 100, max_size: 1000 }
`,
};

const verdict = new Verdict();
const root = await writeProject(FILES);
const redis = await startRedisServer();
const proxy = await startTrackingProxy(redis.port);
const admin = new Redis(redis.url);
const history = new SharedHistory(ITEMS);
const workers: Worker[] = [];
try {
  await writeFirstVersions();
  for (let number = 0; number < INSTANCES; number++) workers.push(await startInstance(number));
  await phase('clean', () => pause(100));
  await phase('killed', async () => {
    await pause(150 + Math.random() * 300);
    await killTracking();
  });
  await phase('paused', async () => {
    await pause(100 + Math.random() * 200);
    proxy.set('pause');
    await pause(20 + Math.random() * 400);
    proxy.set('forward');
  });
  await phase('half-open', async () => {
    await pause(200 + Math.random() * 400);
    proxy.set('black hole'); // for ever, for the connections that are there
    proxy.set('forward');
  });
  for (const worker of workers) await ask(worker, { do: 'stop' });
} finally {
  for (const worker of workers) await worker.terminate();
  admin.disconnect();
  await proxy.close();
  await redis.remove();
  await rm(root, { recursive: true, force: true });
}
verdict.end();

/** Runs readers and writers on both instances, with trouble again and again, and checks what they saw. */
async function phase(name: string, trouble: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const over = new AbortController();
  const troubles = (async () => {
    while (!over.signal.aborted) await trouble();
  })();
  const seen = (await Promise.all(
    workers.map((worker) => ask(worker, { do: 'run', ...PHASE })),
  )) as PhaseFigures[];
  over.abort();
  await troubles;
  proxy.set('forward');
  const seconds = (performance.now() - began) / 1000;
  await pause(300);
  const left = (await Promise.all(workers.map((worker) => ask(worker, { do: 'check' })))) as number[];

  const sum = (of: (figures: PhaseFigures) => number): number => seen.reduce((all, one) => all + of(one), 0);
  const lags = seen.flatMap((one) => one.lags).sort((a, b) => a - b);
  const foreign = sum((one) => one.foreign);
  const looked = sum((one) => one.hits + one.misses + one.bypasses);
  const share = (count: number): string => `${((100 * count) / Math.max(1, looked)).toFixed(1)} %`;
  const calls = sum((one) => one.rankings + one.writes);
  console.log(
    `\n${name}: ${sum((one) => one.rankings)} rankings, ${sum((one) => one.writes)} writes in ${seconds.toFixed(1)} s; ` +
      `hits ${share(sum((one) => one.hits))}, misses ${share(sum((one) => one.misses))}, ` +
      `bypasses ${share(sum((one) => one.bypasses))}, ${sum((one) => one.flushes)} flushes`,
  );
  console.log(
    `items of the other instance: ${foreign}, of which older than acknowledged ${lags.length}; ` +
      `for how long, of those: median ${at(lags, 50)} ms, p99 ${at(lags, 99)} ms, most ${at(lags, 100)} ms`,
  );
  for (const failure of seen.flatMap((one) => one.failures).slice(0, 3)) console.log(`  ${failure}`);
  const check = (what: string, ok: boolean, found: string): void =>
    verdict.check(`${name}: ${what}`, ok, found);
  check(
    'rankings older than a write acknowledged on their instance',
    sum((one) => one.violations) === 0,
    `${sum((one) => one.violations)}`,
  );
  check('torn entities', sum((one) => one.torn) === 0, `${sum((one) => one.torn)}`);
  check(
    'entries stale for good',
    left.every((count) => count === 0),
    left.join(' and '),
  );
  check(
    `staleness elsewhere at the 99th percentile, limit ${MOST_LAG} ms`,
    Number(at(lags, 99)) <= MOST_LAG,
    `${at(lags, 99)} ms`,
  );
  check('the table was used', sum((one) => one.hits) > 0.1 * looked, share(sum((one) => one.hits)));
  check(
    'calls failed',
    seen.every((one) => one.failures.length === 0),
    `${seen.flatMap((one) => one.failures).length} of ${calls}`,
  );
}

function at(sorted: readonly number[], percent: number): string {
  const index = Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1);
  return (sorted[Math.max(0, index)] ?? 0).toFixed(1);
}

async function writeFirstVersions(): Promise<void> {
  const settings = loadSettings({ REDIS_URL: redis.url, LOG_LEVEL: 'silent' }, { project: root });
  const app = await createApp(settings);
  for (let first = 0; first < ITEMS; first += 1000) {
    const ids = Array.from(
      { length: Math.min(1000, ITEMS - first) },
      (_, i) => `é:${(first + i) % 7},${first + i}`,
    );
    await app.entities.upload({
      entity_type: 'item',
      entities: ids.map((item_id) => ({ item_id, v: 0, w: 0, text: 'version 0' })),
    });
    await app.features.push({ view: 'stats', rows: ids.map((item_id) => ({ item_id, v: 0, w: 0 })) });
  }
  await app.close();
}

async function startInstance(number: number): Promise<Worker> {
  const workerData: InstanceData = {
    project: root,
    redisUrl: proxy.url,
    number,
    instances: INSTANCES,
    writers: WRITERS,
    readers: READERS,
    memory: history.memory,
    items: ITEMS,
  };
  const worker = new Worker(new URL('./staleness/instance.js', import.meta.url), { workerData });
  await once(worker, 'message');
  return worker;
}

async function ask(worker: Worker, command: Command): Promise<unknown> {
  const answered = once(worker, 'message');
  worker.postMessage(command);
  const [result] = (await answered) as [unknown];
  return result;
}

/** Has the server close the invalidation connections. */
async function killTracking(): Promise<void> {
  const clients = String(await admin.client('LIST')).split('\n');
  for (const line of clients) {
    const id = /^id=(\d+) .*name=millrace-track/.exec(line)?.[1];
    if (id !== undefined) await admin.client('KILL', 'ID', id).catch(() => undefined);
  }
}
