import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { Client } from 'undici';
import { median } from '../support/measure.js';
import { featuresOf, itemId } from '../support/items-project.js';
import { FEATURES, naiveKey, PROJECT } from './data.js';
import type { Heap } from './heap.js';
import type { Usage } from './serve.js';

const ROUTE = '/api/v1/items';

/** A server in a process of its own. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  /** The headers of each request in addition to those of its body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The cost of a round of requests. */
export interface Round {
  readonly cpuMs: number;
  readonly latencies: readonly number[];
  /** The fraction of one core that the load generator used during the round. */
  readonly generatorShare: number;
}

/** Starts a server; it reports its URL when it listens. */
export async function startContestant(
  name: string,
  module: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = [],
): Promise<Contestant> {
  const child = fork(module, args, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
    execArgv: [...process.execArgv, ...execArgv],
  });
  const [url] = (await once(child, 'message')) as [string];
  return { name, url, process: child };
}

/** Loads the same features into Millrace through its own endpoint, and as blobs into the naive service. */
export async function load(
  redisUrl: string,
  url: string,
  items: number,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const redis = new Redis(redisUrl);
  const features = featuresOf(PROJECT, items).map((values) =>
    Object.fromEntries(FEATURES.map((name, i) => [name, values[i] ?? 0])),
  );
  for (let from = 0; from < items; from += 1000) {
    const batch = features.slice(from, from + 1000);
    await redis.mset(new Map(batch.map((row, i) => [naiveKey(itemId(from + i)), JSON.stringify(row)])));
    const rows = batch.map((row, i) => ({ item_id: itemId(from + i), ...row }));
    const response = await fetch(`${url}/api/v1/features/push`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify({ view: 'item_stats', rows }),
    });
    assert.equal(response.status, 200, await response.text());
  }
  redis.disconnect();
}

/** Sends every item to every server once, and checks that all return the same ten. */
export async function warmUp(
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
  for (const { name, url, headers } of contestants) {
    const client = new Client(url);
    for (const body of all) await post(client, body, headers);
    for (let round = 0; round < 10; round++) {
      for (const [i, body] of bodies.entries()) {
        const answer: unknown = JSON.parse(await post(client, body, headers));
        if (!wanted.has(i)) wanted.set(i, answer);
        assert.deepEqual(answer, wanted.get(i), `${name} returns the same ranking as the others`);
      }
    }
    await client.close();
  }
}

async function post(client: Client, body: Buffer, more: Contestant['headers'] = {}): Promise<string> {
  const response = await client.request({
    path: ROUTE,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body,
  });
  const text = await response.body.text();
  assert.equal(response.statusCode, 200, text);
  return text;
}

/** Sends requests from several clients. Each client has its own connection and one request in flight. */
export async function run(
  { url, process: child, headers }: Contestant,
  bodies: readonly Buffer[],
  requests: number,
  clients: number,
): Promise<Round> {
  const connections = Array.from({ length: clients }, () => new Client(url));
  for (const client of connections) await post(client, bodies[0] ?? Buffer.alloc(0), headers);
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
        await post(client, body, headers);
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

/** Requests between two looks at the heap. */
const BATCH = 100;

/**
 * Sends requests from one client, in batches. Batches in which a garbage collection runs do not count: buffers outside the
 * heap cause some, however large the young generation is.
 * @returns the bytes of used heap of each request; the median of the batches
 */
export async function heapPerRequest(
  contestant: Contestant,
  bodies: readonly Buffer[],
  requests: number,
): Promise<number> {
  const found: number[] = [];
  while (found.length < requests / BATCH) {
    const before = await heapOf(contestant);
    const { latencies } = await run(contestant, bodies, BATCH, 1);
    const after = await heapOf(contestant);
    if (after.collections !== before.collections) continue;
    // The connection is opened with one more.
    found.push((after.heapBytes - before.heapBytes) / (latencies.length + 1));
  }
  return median(found.sort((a, b) => a - b));
}

/** Only of a process that loads `heap.js` first. */
async function heapOf({ process: child }: Contestant): Promise<Heap> {
  child.send('heap');
  for (;;) {
    // Every message is answered with the usage, too.
    const [answer] = (await once(child, 'message')) as [Partial<Heap>];
    if (answer.heapBytes !== undefined) return answer as Heap;
  }
}

export async function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [answer] = (await once(child, 'message')) as [Usage];
  return answer;
}
