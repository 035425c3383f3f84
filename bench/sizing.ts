import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { NodeRule } from '../runtime/ground/api/tree-ensemble.js';
import { folderSize } from '../test/support/folder-size.js';
import { writeProject } from '../test/support/project.js';
import { randomEnsemble, randomNumbers } from '../test/support/random-ensemble.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { writeBlocks } from './support/blocks.js';
import { median } from './support/measure.js';
import { lightGbmText } from './support/lightgbm-text.js';

const CANDIDATES = [24, 100, 1000];
/** Numbers of features, with the numbers of trees of the models over them; 0: an expression over two features. */
const MODELS: readonly (readonly [features: number, trees: number])[] = [
  [10, 0],
  [10, 100],
  [50, 0],
  [50, 100],
  [50, 500],
];
const MOST_FEATURES = 50;
const ITEMS = 2000;
const EVENTS = [100, 1000];
const SERVICE = fileURLToPath(new URL('../test/prove/support/service-process.js', import.meta.url));
const PAGE = 'docs/sizing.md';

/** Measures what docs/sizing.md says: CPU of a request by shape, and bytes of each kind of record. */
export async function sizingBench(short: boolean, write: boolean): Promise<void> {
  const root = await writeProject(projectFiles());
  const redis = await startRedisServer();
  const client = new Redis(redis.url);
  try {
    const onRedis = await startMeasured({ MILLRACE_PROJECT: root, REDIS_URL: redis.url });
    const cpu: string[] = [];
    let bytes: string[];
    try {
      await fill(onRedis);
      for (const candidates of CANDIDATES)
        cpu.push(
          `| ${candidates.toLocaleString('en')} | ${(await costs(onRedis, candidates, short)).join(' | ')} |`,
        );
      bytes = await redisBytes(onRedis, client);
    } finally {
      await onRedis.stop();
    }
    bytes.push(...(await embeddedBytes(root, short)));
    const columns = MODELS.map(([features, trees]) =>
      trees === 0 ? `${features} features, an expression` : `${features} features, ${trees} trees`,
    );
    const cpuTable = [
      'Milliseconds of CPU for one request, by the number of its candidates. The trees have 64 leaves.',
      '',
      `| candidates | ${columns.join(' | ')} |`,
      `| ---: |${' ---: |'.repeat(columns.length)}`,
      ...cpu,
    ].join('\n');
    const byteTable = ['| record | bytes |', '| --- | ---: |', ...bytes].join('\n');
    console.log(`${cpuTable}\n\n${byteTable}`);
    if (write) await writeBlocks(PAGE, { 'sizing-cpu': cpuTable, 'sizing-bytes': byteTable }, short);
  } finally {
    client.disconnect();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
}

/** A service in a process of its own, whose use of resources can be asked for. */
interface Measured {
  readonly url: string;
  usage(): Promise<{ readonly cpuMs: number; readonly rssBytes: number }>;
  post(path: string, body: object | string): Promise<void>;
  stop(): Promise<void>;
}

async function startMeasured(env: Readonly<Record<string, string>>): Promise<Measured> {
  const child: ChildProcess = fork(SERVICE, {
    env: { ...process.env, LOG_LEVEL: 'error', PORT: '0', MILLRACE_QUEUE_MS: '5000', ...env },
  });
  const [port] = (await once(child, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  const post = async (path: string, body: object | string): Promise<void> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status === 503) {
      // The machine was busy with something else. The CPU of a refusal is small.
      await pause(100);
      await post(path, body);
    } else if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
  };
  return {
    url,
    async usage() {
      child.send('usage');
      const [usage] = (await once(child, 'message')) as [{ cpuMs: number; rssBytes: number }];
      return usage;
    },
    post,
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

function projectFiles(): Record<string, string> {
  const names = Array.from({ length: MOST_FEATURES }, (_, i) => `f${i}`);
  const pipelines = MODELS.map(([features, trees]): [string, string] => {
    const used = names.slice(0, features).map((name) => `  - item_stats:${name}\n`);
    const steps =
      trees === 0
        ? `  - use: score\n    with: { value: ${names
            .slice(0, features)
            .map((name) => `item_stats:${name}`)
            .join(' + ')} }\n`
        : `  - use: lightgbm\n    as: ltr\n    with: { model: models/f${features}-t${trees}.txt }\n` +
          "  - use: score\n    with: { value: 'ltr:score' }\n";
    return [
      `pipelines/${nameOf(features, trees)}.yaml`,
      `pipeline: ${nameOf(features, trees)}\nrank: item\nlimits: { time: 5s }\nfeatures:\n${used.join('')}components:\n${steps}`,
    ];
  });
  const models = MODELS.filter(([, trees]) => trees > 0).map(([features, trees]): [string, string] => [
    `models/f${features}-t${trees}.txt`,
    lightGbmText(
      {
        ...randomEnsemble(7, {
          trees,
          leaves: 64,
          features,
          thresholds: 255,
          precision: 'float64',
          comparison: 'less_or_equal',
          rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
        }),
        base: [0],
      },
      names.slice(0, features).map((name) => `item_stats__${name}`),
    ),
  ]);
  return {
    'schemas/entities/item.yaml':
      'entity: item\nattributes:\n  title: string\n  price: float\n  brand: ref(brand)\n',
    'schemas/entities/picture.yaml': 'entity: picture\nattributes:\n  embedding: vector(64)\n',
    'schemas/features/item_stats.yaml': `view: item_stats\nof: [item]\nfeatures:\n${names.map((name) => `  ${name}: float\n`).join('')}`,
    'pipelines/histories.yaml':
      'pipeline: histories\nrank: product\nrequest: { candidates: {}, user: optional(user) }\ncomponents:\n' +
      '  - use: interaction\n    with: { of: user, with: product, outputs: { clicks: { event: click, window: 30d } } }\n' +
      '  - use: score\n    with: { value: "coalesce(interaction:clicks, 0)" }\n',
    ...Object.fromEntries(pipelines),
    ...Object.fromEntries(models),
  };
}

function nameOf(features: number, trees: number): string {
  return `f${features}_t${trees}`;
}

async function fill(service: Measured, items = ITEMS): Promise<void> {
  const random = randomNumbers(11);
  for (let from = 0; from < items; from += 500) {
    const ids = Array.from({ length: 500 }, (_, i) => `item-${from + i}`);
    await service.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: ids.map((item_id, i) => ({
        item_id,
        title: `A title of forty characters, as usual ${i % 10}`,
        price: 10 + random(),
        brand: `brand-${i % 50}`,
      })),
    });
    await service.post('/api/v1/features/push', {
      view: 'item_stats',
      rows: ids.map((item_id) => ({
        item_id,
        ...Object.fromEntries(Array.from({ length: MOST_FEATURES }, (_, f) => [`f${f}`, random() * 5 - 2.5])),
      })),
    });
  }
}

/** CPU of one request to each pipeline. */
/**
 * Medians over rounds that visit every model in turn, so that warm-up and other work on the machine do not fall on one of
 * them.
 */
async function costs(service: Measured, candidates: number, short: boolean): Promise<string[]> {
  const bodies = Array.from({ length: 8 }, (_, k) =>
    JSON.stringify({
      candidates: Array.from({ length: candidates }, (_, i) => ({
        item_id: `item-${(k * 131 + i * 7) % ITEMS}`,
      })),
    }),
  );
  const send = async (path: string, count: number): Promise<void> => {
    const lane = async (first: number): Promise<void> => {
      for (let i = first; i < count; i += 4) await service.post(path, bodies[i % bodies.length] ?? '');
    };
    await Promise.all([0, 1, 2, 3].map(lane));
  };
  const paths = MODELS.map(([features, trees]) => `/api/v1/${nameOf(features, trees)}`);
  for (const path of paths) await send(path, short ? 40 : 1500);
  const rounds = paths.map((): number[] => []);
  const requests = short ? 60 : 300;
  for (let round = 0; round < (short ? 1 : 7); round++)
    for (const [i, path] of paths.entries()) {
      const before = (await service.usage()).cpuMs;
      await send(path, requests);
      rounds[i]?.push(((await service.usage()).cpuMs - before) / requests);
    }
  return rounds.map((ms) => median(ms).toFixed(2));
}

async function redisBytes(service: Measured, client: Redis): Promise<string[]> {
  const rows = [
    row(
      'Redis: an entity with a title, a price and a brand',
      await meanOf(client, 'millrace:*:item:*', 'entity'),
    ),
    row(
      `Redis: the ${MOST_FEATURES} features of an entity`,
      await meanOf(client, 'millrace:*:item:*', 'features'),
    ),
  ];
  await service.post('/api/v1/entities/upload', {
    entity_type: 'picture',
    entities: Array.from({ length: 200 }, (_, i) => ({
      picture_id: `picture-${i}`,
      embedding: Array.from({ length: 64 }, (_, k) => Math.fround(Math.sin(i + k))),
    })),
  });
  rows.push(row('Redis: an entity with a vector of 64', await meanOf(client, 'millrace:*:picture:*')));
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const value = (name: string): number =>
    Number(new RegExp(`^${name}\\{entity_type="item"\\} (\\S+)`, 'm').exec(metrics)?.[1]);
  const each = value('millrace_resident_bytes') / value('millrace_resident_rows');
  rows.push(row(`cache of a process: an entity with its ${MOST_FEATURES} features`, each));
  for (const events of EVENTS) {
    const user_id = `user-${events}`;
    for (let from = 0; from < events; from += 100)
      await service.post('/api/v1/feedback', {
        request_id: `r-${events}-${from}`,
        user: { user_id },
        events: Array.from({ length: 100 }, (_, i) => ({
          type: 'click',
          product: { product_id: `product-${from + i}` },
        })),
      });
    const name = `Redis: the history of a user with ${events.toLocaleString('en')} events`;
    rows.push(row(name, await meanOf(client, `millrace:*:user:${user_id}`)));
  }
  return rows;
}

/** The mean of MEMORY USAGE of the keys that match and whose group is as given. */
async function meanOf(client: Redis, pattern: string, group = ''): Promise<number> {
  const keys = (await client.keys(pattern))
    .filter((key) => key.startsWith(`millrace:${group}`))
    .slice(0, 500);
  if (keys.length === 0) throw new Error(`no key of Redis matches ${pattern}`);
  const sizes = await Promise.all(keys.map(async (key) => Number(await client.memory('USAGE', key))));
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
}

/** Memory and disk of the embedded store: the growth from some records to many. */
async function embeddedBytes(root: string, short: boolean): Promise<string[]> {
  const folder = join(tmpdir(), `millrace-sizing-${process.pid}`);
  const items = short ? 10_000 : 100_000;
  const service = await startMeasured({
    MILLRACE_PROJECT: root,
    MILLRACE_STORE: 'embedded',
    MILLRACE_DATA_DIR: folder,
    MILLRACE_RESIDENT: 'off',
  });
  try {
    await fill(service);
    const [memory, disk] = [(await service.usage()).rssBytes, await folderSize(folder)];
    await fill(service, items + ITEMS);
    const what = `an entity with its ${MOST_FEATURES} features`;
    return [
      row(`embedded store, memory: ${what}`, ((await service.usage()).rssBytes - memory) / items),
      row(`embedded store, disk: ${what}`, ((await folderSize(folder)) - disk) / items),
    ];
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function row(record: string, bytes: number): string {
  return `| ${record} | ${Math.round(bytes).toLocaleString('en')} |`;
}
