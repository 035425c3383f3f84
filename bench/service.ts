import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Client } from 'undici';
import { startRedisServer } from '../test/support/redis-server.js';
import { bodiesOf, FEATURES, featuresOf, itemId, naiveKey, writeProject } from './service/data.js';
import type { Usage } from './service/serve.js';
import { median, ms, percentile, table } from './support/measure.js';

const ROUTE = '/api/v1/items';
const CANDIDATES = [1000, 100, 24];

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
}

/** The cost of a round of requests. */
interface Round {
  readonly cpuMs: number;
  readonly latencies: readonly number[];
  /** The fraction of one core that the load generator used during the round. */
  readonly generatorShare: number;
}

/**
 * Measures the whole request through HTTP: up to 1,000 candidates with 40 features each, 300 trees of 64 leaves, and
 * a page of ten. Millrace, the naive service and the floor run in separate processes. Each server process reports its
 * own CPU time. All must give the same answers, which is checked first.
 */
export async function serviceBench(short: boolean): Promise<void> {
  const items = short ? 3_000 : 20_000;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const contestants: Contestant[] = [];
  try {
    await writeProject(folder);
    const start = async (name: string, module: string, args: string[], env = {}): Promise<void> => {
      const path = fileURLToPath(new URL(`./service/${module}.js`, import.meta.url));
      const child = fork(path, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
      const [url] = (await once(child, 'message')) as [string];
      contestants.push({ name, url, process: child });
    };
    const ours = { MILLRACE_PROJECT: folder, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' };
    await start('naive, redis', 'naive', [redis.url]);
    await start('millrace, redis, no tables', 'millrace', [], { ...ours, MILLRACE_RESIDENT: 'off' });
    await start('millrace, redis, warm', 'millrace', [], { ...ours, MILLRACE_RESIDENT: 'all' });
    await start('floor, Express', 'floor', [String(items), 'express']);
    await start('floor, node:http', 'floor', [String(items), 'plain']);
    await load(redis.url, contestants[1]?.url ?? '', items);
    for (const count of short ? [1000] : CANDIDATES) {
      const bodies = bodiesOf(items, count, 16);
      await warmUp(contestants, items, bodies);
      for (const clients of [1, 8]) await compare(contestants, bodies, count, clients, short);
    }
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Loads the same features into Millrace through its own endpoint, and as blobs into the naive service. */
async function load(redisUrl: string, url: string, items: number): Promise<void> {
  const redis = new Redis(redisUrl);
  const features = featuresOf(items).map((values) =>
    Object.fromEntries(FEATURES.map((name, i) => [name, values[i] ?? 0])),
  );
  for (let from = 0; from < items; from += 1000) {
    const batch = features.slice(from, from + 1000);
    await redis.mset(new Map(batch.map((row, i) => [naiveKey(itemId(from + i)), JSON.stringify(row)])));
    const rows = batch.map((row, i) => ({ item_id: itemId(from + i), ...row }));
    const response = await fetch(`${url}/api/v1/features/push`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view: 'item_stats', rows }),
    });
    assert.equal(response.status, 200, await response.text());
  }
  redis.disconnect();
}

/** Sends every item to every server once, and checks that all return the same ten. */
async function warmUp(
  contestants: readonly Contestant[],
  items: number,
  bodies: readonly Buffer[],
): Promise<void> {
  const all = Array.from({ length: Math.ceil(items / 1000) }, (_, page) =>
    Buffer.from(
      JSON.stringify({
        candidates: Array.from({ length: Math.min(1000, items - 1000 * page) }, (_item, i) => ({
          item_id: itemId(1000 * page + i),
        })),
        user_page_size: 10,
      }),
    ),
  );
  const wanted = new Map<number, unknown>();
  for (const { name, url } of contestants) {
    const client = new Client(url);
    for (const body of all) await post(client, body);
    for (let round = 0; round < 10; round++) {
      for (const [i, body] of bodies.entries()) {
        const answer: unknown = JSON.parse(await post(client, body));
        if (!wanted.has(i)) wanted.set(i, answer);
        assert.deepEqual(answer, wanted.get(i), `${name} returns the same ranking as the others`);
      }
    }
    await client.close();
  }
}

async function post(client: Client, body: Buffer): Promise<string> {
  const response = await client.request({
    path: ROUTE,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.body.text();
  assert.equal(response.statusCode, 200, text);
  return text;
}

async function compare(
  contestants: readonly Contestant[],
  bodies: readonly Buffer[],
  count: number,
  clients: number,
  short: boolean,
): Promise<void> {
  const rounds = short ? 3 : 9;
  const found = contestants.map((): Round[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const slow = contestant.name.startsWith('naive') ? 8 : 1;
      const requests = Math.ceil((short ? 200 : 400) / slow);
      found[i]?.push(await run(contestant, bodies, requests, clients));
    }
  }
  const costs = found.map((all) => median(all.map(({ cpuMs }) => cpuMs).sort((a, b) => a - b)));
  const [naive = NaN, , , floor = NaN] = costs;
  console.log(
    `\n${count} candidates, 40 features, 300 trees; ${clients} ${clients === 1 ? 'client' : 'clients'}, ${rounds} rounds\n`,
  );
  console.log(
    table(
      ['', 'CPU ms', 'req/s CPU', 'of naive', 'of floor', 'p50 ms', 'p99 ms', 'gen. CPU'],
      contestants.map(({ name }, i) => {
        const all = found[i] ?? [];
        const cost = costs[i] ?? NaN;
        const latencies = all.flatMap((one) => one.latencies).sort((a, b) => a - b);
        const share = median(all.map((one) => one.generatorShare).sort((a, b) => a - b));
        return [
          name,
          cost.toFixed(3),
          (1000 / cost).toFixed(0),
          `1/${(naive / cost).toFixed(1)}`,
          (cost / floor).toFixed(2),
          ms(median(latencies)),
          ms(percentile(latencies, 99)),
          `${(100 * share).toFixed(0)} %`,
        ];
      }),
    ),
  );
  const [express = NaN, plain = NaN] = costs.slice(-2);
  console.log(`\nExpress costs ${(1000 * (express - plain)).toFixed(0)} µs of CPU per request of the floor`);
}

/** Sends requests from several clients. Each client has its own connection and one request in flight. */
async function run(
  { url, process: child }: Contestant,
  bodies: readonly Buffer[],
  requests: number,
  clients: number,
): Promise<Round> {
  const connections = Array.from({ length: clients }, () => new Client(url));
  for (const client of connections) await post(client, bodies[0] ?? Buffer.alloc(0));
  const latencies: number[] = [];
  let sent = 0;
  const before = await usage(child);
  const own = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    connections.map(async (client) => {
      while (sent < requests) {
        const body = bodies[sent++ % bodies.length] ?? Buffer.alloc(0);
        const asked = performance.now();
        await post(client, body);
        latencies.push(performance.now() - asked);
      }
    }),
  );
  const took = performance.now() - start;
  const { user, system } = process.cpuUsage(own);
  const after = await usage(child);
  for (const client of connections) await client.close();
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / latencies.length,
    latencies,
    generatorShare: (user + system) / 1000 / took,
  };
}

async function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [answer] = (await once(child, 'message')) as [Usage];
  return answer;
}
