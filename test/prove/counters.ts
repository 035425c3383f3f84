import { mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counterKey } from '../../runtime/store/keys.js';
import { keySlot } from '../../runtime/store/redis/cluster/key-slot.js';
import { writeProject } from '../support/project.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const WRITERS = 8;
const READERS = 4;
const PRODUCTS = 40;
const BRANDS = 5;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/counters/brand_live.yaml':
    'counter: brand_live\nof: [brand]\nby: [product.brand]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'schemas/counters/product_live.yaml':
    'counter: product_live\nof: [product]\nfeatures: { clicks: { event: click, window: 7d }, items: { event: click, window: 7d, value: sum(quantity) } }\n',
  'schemas/counters/site.yaml': 'counter: site\nof: []\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: {}
features: [product_live, brand: brand_live(product.brand)]
components:
  - use: score
    with: { value: 'product_live:clicks + 1e4 * product_live:items + 1e9 * brand:clicks' }
`,
};

/** The scores of all products, and the clicks of the site. */
type Counts = ReadonlyMap<string, number>;

export const counters: Proof = {
  name: 'counters',
  summary: 'counters equal an oracle after killed clients, services, a killed server and moving slots',
  page: 'counters.md',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const place of ['redis', 'embedded', 'cluster'] as const) {
    const figures = await measure(place, short ? 6_000 : 60_000);
    rows.push(
      `| ${place} | ${figures.events} | ${figures.repeated} | ${figures.kills} | ${figures.readings} | ${figures.wrong} |`,
    );
    if (figures.wrong > 0) missed.push(`${place}: bound 0 wrong counts, was ${figures.wrong}`);
    if (figures.backwards > 0) missed.push(`${place}: a count went backwards ${figures.backwards} times`);
    if (figures.repeated === 0) missed.push(`${place}: no body was sent again`);
    console.log(`${place}: ${JSON.stringify(figures)}`);
  }
  return {
    markdown: [
      `${WRITERS} writers send clicks and abort some requests, ${READERS} readers rank, and services and servers are killed.`,
      'Every body is sent again until it is acknowledged. Wrong: counts that differ from an oracle over all events.',
      '',
      '| store | events | bodies sent again | kills | rankings | wrong |',
      '| ----- | ------ | ----------------- | ----- | -------- | ----- |',
      ...rows,
    ].join('\n'),
    missed,
  };
}

interface Figures {
  events: number;
  repeated: number;
  kills: number;
  readings: number;
  wrong: number;
  backwards: number;
}

async function measure(place: 'redis' | 'embedded' | 'cluster', forMs: number): Promise<Figures> {
  const figures: Figures = { events: 0, repeated: 0, kills: 0, readings: 0, wrong: 0, backwards: 0 };
  const root = await writeProject(FILES);
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-counters-'));
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const redis = place === 'redis' ? await startRedisServer(durable) : undefined;
  const cluster =
    place === 'cluster'
      ? await startRedisCluster({ masters: 3, replicas: false, nodeTimeout: 2000 })
      : undefined;
  const env: Record<string, string> = {
    ...{ LOG_LEVEL: 'info', MILLRACE_LAME_DUCK_MS: '0', MILLRACE_DATA_DIR: dataDir },
    MILLRACE_STORE: place === 'embedded' ? 'embedded' : 'redis',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    ...(cluster === undefined ? {} : { REDIS_CLUSTER: `127.0.0.1:${cluster.addresses[0]?.port ?? 0}` }),
  };
  const start = (): Promise<ServiceProcess> => startProcess(['--project', root, '--port', '0'], env);
  const services = [await start(), ...(place === 'embedded' ? [] : [await start()])];
  const oracle = new Map<string, number>();
  const add = (key: string, amount: number): void => void oracle.set(key, (oracle.get(key) ?? 0) + amount);
  try {
    await post(services[0]?.url ?? '', '/api/v1/entities/upload', {
      entity_type: 'product',
      entities: products().map((product_id, i) => ({ product_id, brand: `b${i % BRANDS}` })),
    });
    let isOver = false;
    const writer = async (w: number): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const events = Array.from({ length: 1 + (n % 20) }, (_, i) => ({
          type: 'click',
          event_id: `${w}-${n}-${i}`,
          product: { product_id: `p${(n * 7 + i * w) % PRODUCTS}` },
          quantity: 1 + (i % 3),
          time: Date.now(),
        }));
        const body = { user: { user_id: `u${w}` }, events };
        // A client that is killed sends its body again when it is back.
        for (let tries = 0; ; tries++) {
          const service = services[(w + tries) % services.length];
          const limit =
            tries === 0 && n % 5 === 0 ? AbortSignal.timeout(1 + (n % 7)) : AbortSignal.timeout(8000);
          if (await isAcknowledged(service?.url ?? '', body, limit)) break;
          figures.repeated++;
          await pause(20);
        }
        for (const { product, quantity } of events) {
          add(`clicks ${product.product_id}`, 1);
          add(`items ${product.product_id}`, quantity);
          add(`brand b${Number(product.product_id.slice(1)) % BRANDS}`, 1);
          figures.events++;
        }
      }
    };
    const reader = async (r: number): Promise<void> => {
      let before: Counts = new Map();
      while (!isOver) {
        const counts = await read(services[r % services.length]?.url ?? '').catch(() => undefined);
        if (counts !== undefined) {
          figures.readings++;
          for (const [id, score] of counts) if (score < (before.get(id) ?? 0)) figures.backwards++;
          before = counts;
        }
        await pause(10);
      }
    };
    const kill = async (): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        await pause(forMs / 8);
        const at = n % services.length;
        services[at]?.child.kill('SIGKILL');
        await services[at]?.ended;
        services[at] = await start();
        figures.kills++;
        if (redis === undefined || n % 2 === 0) continue;
        await redis.stop();
        await pause(200);
        await redis.start();
        figures.kills++;
      }
    };
    const move = async (): Promise<void> => {
      const keys = [
        counterKey('millrace', [], []),
        ...products().map((id) => counterKey('millrace', ['product'], [id])),
      ];
      for (const slot of new Set(keys.map((key) => keySlot(key)))) {
        if (cluster === undefined || isOver) return;
        const from = Math.floor((slot * 3) / 16_384);
        await cluster.migrate(slot, from, (from + 1) % 3, () => pause(20));
        figures.kills++;
      }
    };
    const work = [
      ...Array.from({ length: WRITERS }, (_, w) => writer(w)),
      ...Array.from({ length: READERS }, (_, r) => reader(r)),
      kill(),
      move(),
    ];
    await pause(forMs);
    isOver = true;
    await Promise.all(work);
    for (const { url } of services) {
      const counts = await readAtLast(url);
      for (const [i, id] of products().entries()) {
        const expected =
          (oracle.get(`clicks ${id}`) ?? 0) +
          1e4 * (oracle.get(`items ${id}`) ?? 0) +
          1e9 * (oracle.get(`brand b${i % BRANDS}`) ?? 0);
        if (counts.get(id) !== expected) figures.wrong++;
      }
    }
    return figures;
  } finally {
    for (const { child } of services) child.kill('SIGKILL');
    await redis?.remove();
    await cluster?.remove();
    for (const folder of [root, dataDir]) await rm(folder, { recursive: true, force: true });
  }
}

const products = (): string[] => Array.from({ length: PRODUCTS }, (_, i) => `p${i}`);

async function post(url: string, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function isAcknowledged(url: string, body: object, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await post(url, '/api/v1/feedback', body, signal);
    await answer.arrayBuffer();
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429)
      throw new Refused(`feedback was refused with ${answer.status}`);
    return answer.ok;
  } catch (error) {
    if (error instanceof Refused) throw error;
    return false;
  }
}

class Refused extends Error {}

/** Reads when nothing is killed any more. The store may have just come back, so refused rankings are sent again. */
async function readAtLast(url: string): Promise<Counts> {
  for (let tries = 1; ; tries++) {
    try {
      return await read(url);
    } catch (error) {
      if (tries === 100) throw error;
      await pause(100);
    }
  }
}

async function read(url: string): Promise<Counts> {
  const body = { candidates: products().map((product_id) => ({ product_id })), user_page_size: PRODUCTS };
  const answer = await post(url, '/api/v1/ranking', body);
  if (!answer.ok) throw new Error(`the ranking failed with ${answer.status}`);
  const { ranked_candidates: ranked } = (await answer.json()) as {
    readonly ranked_candidates: readonly { readonly candidate_id: string; readonly ranked_score: number }[];
  };
  return new Map(ranked.map((one) => [one.candidate_id, one.ranked_score]));
}
