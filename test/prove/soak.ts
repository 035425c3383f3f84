import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import type { Proof, ProofResult } from './proof.js';

const STORES = ['embedded', 'redis'] as const;
/** The slope counts from this part of the time on, because caches, histories and compiled code grow first. */
const WARM_SHARE = 0.3;
const SAMPLE_MS = 5_000;
/** The greatest slope of the heap, bytes per hour. */
const MOST_SLOPE = 1_000_000;
/** The number of samples between two reloads: five minutes in the full form. */
const RELOAD_EVERY = 60;
const PRODUCTS = 2_000;
/** Few users, so that their histories are soon full. */
const USERS = 20;
const CANDIDATES = 24;

/**
 * Answers with one of these statuses are expected: bad bodies are a part of the load, and on a busy machine some requests
 * miss their time limit. The table shows how many.
 */
const EXPECTED: ReadonlySet<number> = new Set([200, 400, 404, 415, 422, 503]);

/** Sends every kind of request for a long time, and measures the heap after forced collections. */
export const soak: Proof = {
  name: 'soak',
  summary: '30 minutes of mixed load on each store: the heap does not grow',
  async run({ short }) {
    // Both run at the same time, so that the whole takes half an hour.
    const found = await Promise.all(STORES.map((store) => soakOn(store, short ? 40_000 : 1_800_000, short)));
    return report(found, short);
  },
};

interface Soaked {
  readonly store: string;
  readonly minutes: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly reloads: number;
  /** Of the heap without compiled code, bytes per hour. */
  readonly slope: number;
  /** Of the whole heap, bytes per hour. */
  readonly wholeSlope: number;
  readonly first: Memory;
  readonly last: Memory;
}

interface Memory {
  readonly heapUsed: number;
  /** The part of `heapUsed` that is compiled code and its data. It grows for the first hours, while V8 optimizes functions. */
  readonly compiled: number;
  readonly external: number;
  readonly rss: number;
}

async function soakOn(store: (typeof STORES)[number], ms: number, short: boolean): Promise<Soaked> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-soak-'));
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  let child: ChildProcess | undefined;
  try {
    for (const folder of ['pipelines', 'schemas'])
      await cp(repositoryPath(folder), join(root, folder), { recursive: true });
    child = fork(fileURLToPath(new URL('./support/heap-service.js', import.meta.url)), [], {
      env: {
        ...process.env,
        LOG_LEVEL: 'silent',
        MILLRACE_STORE: store,
        MILLRACE_PROJECT: root,
        PORT: '0',
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      },
      execArgv: ['--expose-gc'],
    });
    const service = child;
    const [url] = (await once(service, 'message')) as [string];
    const load = new MixedLoad(url);
    await load.prepare();
    const ranking = join(root, 'pipelines', 'ranking.yaml');
    const yaml = await readFile(ranking, 'utf8');
    const start = performance.now();
    const running = load.run(() => performance.now() - start < ms);
    const samples: [number, Memory][] = [];
    let reloads = 0;
    while (performance.now() - start < ms) {
      await pause(short ? SAMPLE_MS / 5 : SAMPLE_MS);
      // A reload replaces the whole project. What the old one held must be released.
      if (samples.length % RELOAD_EVERY === RELOAD_EVERY / 2) {
        await writeFile(ranking, `${yaml}# ${++reloads}\n`);
        service.send('reload');
        await once(service, 'message');
      }
      service.send('heap');
      const [memory] = (await once(service, 'message')) as [Memory];
      samples.push([performance.now() - start, memory]);
    }
    await running;
    const warm = samples.filter(([at]) => at >= WARM_SHARE * ms);
    const [[, first] = [0, NONE], [, last] = [0, NONE]] = [warm[0], warm.at(-1)];
    console.log(
      `${store}: MB of the heap/of compiled code in it, a sample each 5 s:`,
      samples.map(inMegabytes).join(' '),
    );
    const slopeOf = (size: (memory: Memory) => number): number =>
      3_600_000 * theilSen(warm.map(([at, memory]) => [at, size(memory)]));
    const slope = slopeOf(({ heapUsed, compiled }) => heapUsed - compiled);
    const wholeSlope = slopeOf(({ heapUsed }) => heapUsed);
    return { store, minutes: ms / 60_000, statuses: load.statuses, reloads, slope, wholeSlope, first, last };
  } finally {
    child?.kill('SIGKILL');
    await redis?.remove();
    await rm(root, { recursive: true, force: true });
  }
}

const inMegabytes = ([, { heapUsed, compiled }]: readonly [number, Memory]): string =>
  `${(heapUsed / 1e6).toFixed(1)}/${(compiled / 1e6).toFixed(1)}`;

const NONE: Memory = { heapUsed: NaN, compiled: NaN, external: NaN, rss: NaN };

/** The median of the slopes of all pairs of points (Sen, 1968). Single outliers do not change it. */
function theilSen(points: readonly (readonly [number, number])[]): number {
  const slopes: number[] = [];
  for (let i = 0; i < points.length; i++)
    for (let j = i + 1; j < points.length; j++) {
      const [[x, y], [x2, y2]] = [points[i] ?? [0, 0], points[j] ?? [0, 0]];
      slopes.push((y2 - y) / (x2 - x));
    }
  slopes.sort((a, b) => a - b);
  return slopes[slopes.length >> 1] ?? NaN;
}

/** Sends requests of every kind, a few at a time. The ids are a fixed set, so that what is stored does not grow. */
class MixedLoad {
  readonly statuses = new Map<number, number>();
  #turn = 0;

  constructor(readonly url: string) {}

  async prepare(): Promise<void> {
    for (let from = 0; from < PRODUCTS; from += 500) await this.#upload(from, 500);
    for (let from = 0; from < PRODUCTS; from += 500) await this.#push(from, 500);
  }

  /** Runs several clients until `goesOn` returns false. */
  async run(goesOn: () => boolean): Promise<void> {
    const client = async (): Promise<void> => {
      while (goesOn()) {
        await this.#next(this.#turn++);
        await pause(8);
      }
    };
    await Promise.all([client(), client(), client()]);
  }

  #next(turn: number): Promise<void> {
    const some = (turn * 7919) % PRODUCTS;
    const ranking = {
      query: { query: `shoe ${turn % 97}` },
      user: { user_id: `u${turn % USERS}` },
      candidates: Array.from({ length: CANDIDATES }, (_, i) => ({
        product_id: `p${(some + i * 104_729) % PRODUCTS}`,
      })),
    };
    switch (turn % 20) {
      case 0:
        return this.#upload(some % 1_500, 50);
      case 1:
        return this.#push(some % 1_500, 50);
      case 2:
        return this.#post('/api/v1/ranking/explain', ranking);
      case 3:
        return this.#post('/api/v1/ranking', { ...ranking, include_events: true });
      case 4:
      case 5:
        return this.#post('/api/v1/feedback', {
          request_id: `r${turn}`,
          user: { user_id: `u${turn % USERS}` },
          events: [{ type: turn % 3 === 0 ? 'click' : 'order', product: { product_id: `p${some}` } }],
        });
      case 6:
        return this.#post('/feature/get-online-features', {
          features: ['product_stats:ctr_30d'],
          entities: { product_id: [`p${some}`, 'unknown'] },
        });
      case 7:
        return this.#post('/api/v1/entities/get', { entity_type: 'product', entity_ids: [`p${some}`] });
      case 8:
        return this.#send('/api/v1/ranking', '{"candidates":[');
      case 9:
        // Wrong names come from a fixed set: a client cannot fill a table of names.
        return this.#post('/api/v1/ranking', { ...ranking, [`unknown_${turn % 50}`]: 1 });
      case 10:
        return this.#send('/api/v1/nothing', '{}');
      case 11:
        return turn % 400 === 11 ? this.#upload(0, 1_500, true) : this.#get('/metrics');
      default:
        return this.#post('/api/v1/ranking', ranking);
    }
  }

  #upload(first: number, count: number, isCompressed = false): Promise<void> {
    const entities = Array.from({ length: count }, (_, i) => ({
      product_id: `p${first + i}`,
      title: `red running shoe ${first + i}`,
      price: (first + i) / 7,
      brand: `b${i % 20}`,
    }));
    return this.#post('/api/v1/entities/upload', { entity_type: 'product', entities }, isCompressed);
  }

  #push(first: number, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, i) => ({
      product_id: `p${first + i}`,
      ctr_30d: i / count,
    }));
    return this.#post('/api/v1/features/push', { view: 'product_stats', rows });
  }

  #post(path: string, body: object, isCompressed = false): Promise<void> {
    return this.#send(path, JSON.stringify(body), isCompressed);
  }

  async #get(path: string): Promise<void> {
    await this.#count(fetch(this.url + path));
  }

  async #send(path: string, body: string, isCompressed = false): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    };
    await this.#count(
      fetch(this.url + path, { method: 'POST', headers, body: isCompressed ? gzipSync(body) : body }),
    );
  }

  async #count(answering: Promise<Response>): Promise<void> {
    const answer = await answering.catch(() => undefined);
    await answer?.arrayBuffer();
    const status = answer?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

function report(found: readonly Soaked[], short: boolean): ProofResult {
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const rows = found.map(({ store, minutes, statuses, reloads, slope, wholeSlope, first, last }) => {
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
    return (
      `| ${store} | ${minutes.toFixed(1)} | ${counts.join(', ')} | ${reloads} | ` +
      `${mb(first.heapUsed)} → ${mb(last.heapUsed)} | ${mb(first.compiled)} → ${mb(last.compiled)} | ` +
      `${(slope / 1e6).toFixed(2)} | ${(wholeSlope / 1e6).toFixed(2)} | ${mb(first.rss)} → ${mb(last.rss)} |`
    );
  });
  const missed = found.flatMap(({ store, statuses, slope }) => [
    // A short run is mostly warm-up, which says nothing about an hour.
    ...(!short && !(slope < MOST_SLOPE)
      ? [`${store}: the heap without compiled code grows by less than 1 MB an hour, was ${mb(slope)} MB`]
      : []),
    ...[...statuses]
      .filter(([status]) => !EXPECTED.has(status))
      .map(([status, count]) => `${store}: no answer with ${status}, were ${count}`),
  ]);
  const markdown = [
    '| store | minutes | answers | reloads | heap after collections, MB | compiled code in it, MB | slope without it, MB an hour | slope of all, MB an hour | resident memory, MB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  return { markdown, missed };
}
