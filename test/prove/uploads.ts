import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { median } from '../../bench/support/measure.js';
import { startRedisServer } from '../support/redis-server.js';
import { startMeasured, type MeasuredService, type Sent } from './bodies/turns.js';
import type { Proof, ProofResult } from './proof.js';

const MB = 1024 * 1024;
const UPLOAD = '/api/v1/entities/upload';
/** Maximum memory growth over the idle service, in multiples of the memory budget for bodies. */
const MOST_BUDGETS = 4;
const BUDGET = 128 * MB;
/** Maximum ratio of the p99 of rankings during a load of entities to the p99 without a load. */
const MOST_RATIO = 2;

/** Measures memory under many parallel uploads, and the latency of rankings during a load. */
export const uploads: Proof = {
  name: 'uploads',
  summary: 'parallel uploads stay within the memory for bodies, and rankings beside a load keep their p99',
  async run({ short }) {
    const parallel: Parallel[] = [];
    for (const count of short ? [150] : [150, 1500])
      for (const one of [dense(), wide()]) parallel.push(await uploadAtOnce(count, one));
    const beside = [
      await besideRankings('embedded', {}, short ? SHORT : FULL),
      await onRedis((url) =>
        besideRankings('redis', { MILLRACE_STORE: 'redis', REDIS_URL: url }, short ? SHORT : FULL),
      ),
    ];
    return report(parallel, beside);
  },
};

async function onRedis<T>(use: (url: string) => Promise<T>): Promise<T> {
  const redis = await startRedisServer();
  try {
    return await use(redis.url);
  } finally {
    await redis.remove();
  }
}

interface Form {
  readonly what: string;
  readonly sent: Sent;
  readonly inflated: number;
}

function form(what: string, body: string): Form {
  const sent = { path: UPLOAD, bytes: gzipSync(body), encoding: 'gzip' };
  return { what, sent, inflated: body.length };
}

/** 12 MB that compress to 12 kB. */
function dense(): Form {
  const entity = `{"product_id":"p","x":[${'0,'.repeat(5_990)}0]}`;
  return form('1,000 entities of zeros', body(new Array<string>(1000).fill(entity)));
}

/** Compresses better than typical real data, because all entities have the same attribute names. */
function wide(): Form {
  const entities = Array.from({ length: 1000 }, (_, i) => {
    const fields = Array.from(
      { length: 500 },
      (_one, f) => `"attribute_${f}":${(i * 7919 + f * 104729) % 1000}`,
    );
    return `{"product_id":"p${i}",${fields.join(',')}}`;
  });
  return form('1,000 entities of 500 attributes', body(entities));
}

function body(entities: readonly string[]): string {
  return `{"entity_type":"product","entities":[${entities.join(',')}]}`;
}

interface Parallel extends Form {
  readonly count: number;
  readonly statuses: string;
  readonly lost: number;
  /** Resident memory in bytes: before the uploads, and the peak during the uploads. */
  readonly before: number;
  readonly peak: number;
}

async function uploadAtOnce(count: number, one: Form): Promise<Parallel> {
  const service = await startMeasured();
  try {
    await service.send({ path: UPLOAD, bytes: Buffer.from(body(['{"product_id":"p"}'])) });
    const before = await memoryOf(service.pid, 'VmRSS');
    const statuses = await Promise.all(Array.from({ length: count }, () => service.send(one.sent)));
    const peak = await memoryOf(service.pid, 'VmHWM');
    const counts = [...new Set(statuses)].sort().map((status) => {
      return `${statuses.filter((found) => found === status).length} × ${status}`;
    });
    const lost = statuses.filter((status) => status === 0).length;
    console.log(`${count} × ${one.what}: ${counts.join(', ')}; ${mb(before)} → ${mb(peak)} MB`);
    return { ...one, count, statuses: counts.join(', '), lost, before, peak };
  } finally {
    await service.close();
  }
}

/** Memory of a process, in bytes. */
async function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(new RegExp(`${field}:\\s*(\\d+)`).exec(status)?.[1]);
}

interface Beside {
  readonly store: string;
  /** Latencies of rankings without and during the load, in milliseconds; medians over the groups of windows. */
  readonly alone: Latency;
  readonly loaded: Latency;
  /** The median of the groups' ratios of p99. */
  readonly ratio: number;
  readonly entities: number;
  readonly failed: number;
}

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

const RATE = 40;
const WINDOW_MS = 2000;
/** The number of products that are loaded repeatedly, and how many of them are ranked. */
const [LOADED, RANKED] = [100_000, 20_000];
const CANDIDATES = 24;

interface Windows {
  readonly groups: number;
  /** Pairs of windows in a group. One pair has 80 rankings with the load, and as many without. */
  readonly pairs: number;
}

/** The p99 of 800 rankings is the ninth longest. That of 240 is the third, and differed by a factor of two between groups. */
const FULL: Windows = { groups: 3, pairs: 10 };
const SHORT: Windows = { groups: 1, pairs: 3 };

/**
 * Measures rankings. Windows with and without a load alternate, so other work on the machine affects both equally. A p99
 * of all windows would be that of the worst moment of the machine, so it is taken for each group of windows.
 */
async function besideRankings(
  store: string,
  env: Readonly<Record<string, string>>,
  { groups, pairs }: Windows,
): Promise<Beside> {
  const service = await startMeasured(env);
  try {
    const batches = Array.from({ length: LOADED / 1000 }, (_, batch) => products(batch));
    for (const sent of batches.slice(0, RANKED / 1000)) await service.send(sent);
    const measured: (readonly [alone: Latency, loaded: Latency])[] = [];
    let entities = 0;
    let failed = 0;
    const count = (status: number): void => void (failed += status === 200 ? 0 : 1);
    await rankings(service, 1000, [], count);
    for (let group = 0; group < groups; group++) {
      const alone: number[] = [];
      const loaded: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        await rankings(service, WINDOW_MS, alone, count);
        const rounds = { isOver: false };
        const load = (async () => {
          for (let at = 0; !rounds.isOver; at++) {
            count(await service.send(batches[at % batches.length] as Sent));
            entities += 1000;
          }
        })();
        await rankings(service, WINDOW_MS, loaded, count);
        rounds.isOver = true;
        await load;
      }
      measured.push([latency(alone), latency(loaded)]);
    }
    const middle = (of: (pair: readonly [Latency, Latency]) => number): number =>
      median(measured.map(of).sort((x, y) => x - y));
    const found = {
      store,
      alone: { p50: middle(([alone]) => alone.p50), p99: middle(([alone]) => alone.p99) },
      loaded: { p50: middle(([, loaded]) => loaded.p50), p99: middle(([, loaded]) => loaded.p99) },
      ratio: middle(([alone, loaded]) => loaded.p99 / alone.p99),
      entities,
      failed,
    };
    console.log(JSON.stringify(found));
    return found;
  } finally {
    await service.close();
  }
}

/** Sends rankings in an open loop. Latencies count from the scheduled time of each ranking. */
async function rankings(
  service: MeasuredService,
  ms: number,
  latencies: number[],
  count: (status: number) => void,
): Promise<void> {
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (let sent = 0; ;) {
    const now = performance.now() - start;
    if (now >= ms) break;
    for (; (sent * 1000) / RATE <= now; sent++) {
      const due = start + (sent * 1000) / RATE;
      pending.push(
        service.send(ranking(sent)).then((status) => {
          latencies.push(performance.now() - due);
          count(status);
        }),
      );
    }
    await pause(1);
  }
  await Promise.all(pending);
}

function ranking(number: number): Sent {
  const candidates = Array.from({ length: CANDIDATES }, (_, i) => ({
    product_id: `p${(number * 7919 + i * 104729) % RANKED}`,
  }));
  const text = JSON.stringify({ query: { query: 'red shoe' }, user: { user_id: 'u' }, candidates });
  return { path: '/api/v1/ranking', bytes: Buffer.from(text) };
}

/** A thousand products of about 400 bytes. */
function products(batch: number): Sent {
  const entities = Array.from({ length: 1000 }, (_, i) =>
    JSON.stringify({
      product_id: `p${batch * 1000 + i}`,
      title: `Red running shoe ${i}`,
      description: 'A light shoe for long runs on roads and in parks.',
      brand: `b${i % 100}`,
      category: `c${i % 10}`,
      categories: ['shoes', 'sport', `c${i % 10}`],
      price: i + 0.99,
      number_in_stock: i % 7,
      rating: (i % 50) / 10,
    }),
  );
  return { path: UPLOAD, bytes: Buffer.from(body(entities)) };
}

function latency(all: readonly number[]): Latency {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

const mb = (bytes: number): string => (bytes / MB).toFixed(0);

function report(parallel: readonly Parallel[], beside: readonly Beside[]): ProofResult {
  return {
    markdown: [
      '| uploads at once | each, sent → inflated | answers | memory before → peak |',
      '| --- | --- | --- | --- |',
      ...parallel.map(({ count, what, sent, inflated, statuses, before, peak }) => {
        const size = `${(sent.bytes.length / 1024).toFixed(0)} kB → ${mb(inflated)} MB`;
        return `| ${count.toLocaleString('en')} × ${what} | ${size} | ${statuses} | ${mb(before)} → ${mb(peak)} MB |`;
      }),
      '',
      `| store | entities loaded | rankings alone: p50, p99 | beside the load: p50, p99 | ratio of p99 |`,
      '| --- | --- | --- | --- | --- |',
      ...beside.map(
        ({ store, entities, alone, loaded, ratio }) =>
          `| ${store} | ${entities.toLocaleString('en')} | ${shown(alone)} | ${shown(loaded)} | ${ratio.toFixed(2)} |`,
      ),
    ].join('\n'),
    missed: [
      ...parallel.flatMap(({ count, what, lost, before, peak }) => [
        ...(lost > 0 ? [`${count} × ${what}: ${lost} uploads had no answer`] : []),
        ...(peak - before > MOST_BUDGETS * BUDGET
          ? [`${count} × ${what}: memory + ${MOST_BUDGETS} × ${mb(BUDGET)} MB, was + ${mb(peak - before)} MB`]
          : []),
      ]),
      ...beside.flatMap(({ store, ratio, failed }) => [
        ...(failed > 0 ? [`${store}: ${failed} requests were not answered with 200`] : []),
        ...(ratio > MOST_RATIO
          ? [`${store}: ratio of p99 at most ${MOST_RATIO}, was ${ratio.toFixed(2)}`]
          : []),
      ]),
    ],
  };
}

function shown({ p50, p99 }: Latency): string {
  return `${p50.toFixed(1)}, ${p99.toFixed(1)} ms`;
}
