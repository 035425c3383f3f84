import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { encodeIndex } from '../../../runtime/state/releases/release-index.js';
import { releasesKey } from '../../../runtime/state/store/keys.js';
import { startInferenceServer, type InferenceServer } from '../../support/inference-server.js';
import { pluginFiles, writeProject } from '../../support/project.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';

/** What a fault acts on. */
export interface AlertStage {
  readonly redis: PrivateRedis;
  readonly client: Redis;
  readonly root: string;
  readonly service: ServiceProcess;
  readonly models: InferenceServer;
  /** Sends rankings to this pipeline too, so many a second. */
  readonly load: (pipeline: string, perSecond?: number) => void;
  /** Starts another service on the same Redis. */
  readonly another: (
    files: Readonly<Record<string, string>>,
    env?: Readonly<Record<string, string>>,
  ) => Promise<ServiceProcess>;
  /** Scrapes this service too. */
  readonly watch: (service: ServiceProcess) => Promise<void>;
  /** Runs at the end. */
  readonly after: (work: () => unknown) => void;
}

export interface AlertFault {
  /** The alerts that it must fire. */
  readonly alerts: readonly string[];
  readonly fault: string;
  readonly short?: true;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Makes the fault. What it returns is awaited. */
  readonly make: (stage: AlertStage) => unknown;
}

const ITEMS = 20;
const ITEM = 'entity: item\nattributes:\n  version: int\n  colour: string\n';
const pipeline = (name: string, step: string): string =>
  `pipeline: ${name}\nrank: item\nlimits: { time: 2s }\nfeatures: [item_stats]\ncomponents:\n${step}` +
  '  - use: score\n    with: { value: item_stats:boost }\n';
const model = (weight: number): string => JSON.stringify({ weights: { 'item.version': weight } });
const items = '  - use: score\n    with: { value: item.version }\n';

/** A project with a sound pipeline, and one for each fault of a plugin. */
const PROJECT: Readonly<Record<string, string>> = {
  'schemas/entities/item.yaml': ITEM,
  'schemas/features/item_stats.yaml': 'view: item_stats\nof: [item]\nfeatures:\n  boost: int\n',
  'pipelines/items.yaml': pipeline('items', items),
  'models/ltr.json': model(1),
  'pipelines/modelled.yaml':
    'pipeline: modelled\nrank: item\ncomponents:\n  - { use: linear, as: ltr, with: { model: models/ltr.json } }\n' +
    "  - { use: score, with: { value: 'ltr:score' } }\n",
  'curation/campaigns.yaml': 'curation: campaigns\nrules:\n  - { hide: [i0] }\n',
  'pipelines/broken.yaml': pipeline('broken', '  - use: throws\n'),
  'pipelines/skips.yaml': pipeline('skips', '  - use: throws\n    on_error: skip\n'),
  'pipelines/slow.yaml': pipeline('slow', '  - use: waits\n'),
  'pipelines/blocks.yaml': pipeline('blocks', '  - use: blocks\n'),
  'pipelines/hoards.yaml': pipeline('hoards', '  - use: hoards\n'),
  'pipelines/strays.yaml': pipeline('strays', '  - use: strays\n'),
  'pipelines/logged.yaml': `${pipeline('logged', items)}log: { candidates: all, features: all }\n`,
  'sinks/records.yaml': 'sink: records\nuse: file\nqueue: 1MB\n',
  'pipelines/remote.yaml': pipeline(
    'remote',
    '  - use: open_inference\n    as: deep\n    on_error: skip\n    with: { url: "${MODELS}", model: sum, inputs: { x: [item.version] }, outputs: { s: y } }\n',
  ),
  'plugins/refuses/index.js': `import { defineReader } from 'millrace/api';
export const reader = defineReader({ name: 'refuses', summary: 'A test.', options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => ({ read() { throw new Error('the table is locked'); } }) });
`,
  'schemas/features/outside.yaml': 'view: outside\nof: [item]\nuse: refuses\nfeatures: { boost: int }\n',
  'pipelines/reads.yaml':
    'pipeline: reads\nrank: item\nfeatures: [outside]\ncomponents:\n  - { use: score, with: { value: outside:boost }, unscored: last }\n',
  ...pluginFiles('throws', 'feature', 'return { outputs: {}, compute() { throw new Error("broken"); } };'),
  ...pluginFiles(
    'waits',
    'feature',
    'return { outputs: {}, compute: () => new Promise((resolve) => setTimeout(resolve, 150)) };',
  ),
  ...pluginFiles(
    'blocks',
    'feature',
    'return { outputs: {}, compute() { const end = Date.now() + 400; while (Date.now() < end); } };',
  ),
  ...pluginFiles(
    'hoards',
    'feature',
    'const { getHeapStatistics: heap } = process.getBuiltinModule("v8"); globalThis.hoard = [];' +
      'return { outputs: {}, compute() { for (let i = 0; i < 200; i++) { const { used_heap_size: used, heap_size_limit: most } = heap();' +
      ' if (used > 0.89 * most) return; globalThis.hoard.push(Array.from({ length: 5000 }, (_, k) => k + 0.5)); } } };',
  ),
  ...pluginFiles(
    'strays',
    'feature',
    'return { outputs: {}, compute() { setTimeout(() => { throw new Error("late"); }, 1); } };',
  ),
};

export const ALERT_FAULTS: readonly AlertFault[] = [
  {
    alerts: ['MillraceDown'],
    fault: 'the process is killed',
    short: true,
    make: ({ service }) => service.child.kill('SIGKILL'),
  },
  {
    alerts: ['MillraceStoreNotReady', 'MillraceCurationStale'],
    fault: 'Redis hangs (SIGSTOP)',
    short: true,
    make: ({ redis }) => process.kill(redis.pid(), 'SIGSTOP'),
  },
  {
    alerts: ['MillraceRequestsFail'],
    fault: 'a plugin throws in each request of a pipeline',
    make: ({ load }) => load('broken'),
  },
  {
    alerts: ['MillraceSheds'],
    fault: 'more requests than MILLRACE_MAX_IN_FLIGHT allows',
    short: true,
    env: { MILLRACE_MAX_IN_FLIGHT: '2' },
    make: ({ load }) => load('slow', 50),
  },
  {
    alerts: ['MillraceConnectionsRefused'],
    fault: 'more connections than MILLRACE_MAX_CONNECTIONS allows',
    env: { MILLRACE_MAX_CONNECTIONS: '20', MILLRACE_MAX_CONNECTIONS_PER_ADDRESS: '0' },
    make: openConnections,
  },
  {
    alerts: ['MillraceDegraded'],
    fault: 'a step with on_error: skip fails',
    short: true,
    make: ({ load }) => load('skips'),
  },
  {
    alerts: ['MillraceStepSlow'],
    fault: 'a step takes 150 ms',
    make: ({ load }) => load('slow'),
  },
  {
    alerts: ['MillraceEventLoopBlocked'],
    fault: 'a plugin computes for 400 ms at a time',
    short: true,
    make: ({ load }) => load('blocks', 2),
  },
  {
    alerts: ['MillraceHeapFull'],
    fault: 'a plugin keeps what it allocates',
    // The limit that Node reports includes the young generation, which is small here.
    env: { NODE_OPTIONS: '--max-old-space-size=150 --max-semi-space-size=1' },
    make: ({ load }) => load('hoards'),
  },
  {
    alerts: ['MillraceStoreMemoryFull'],
    fault: 'Redis uses nearly all of its maxmemory',
    make: async ({ client }) => {
      const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
      await client.config('SET', 'maxmemory', String(Math.round(used * 1.1)));
    },
  },
  {
    alerts: ['MillraceStoreEvicts'],
    fault: 'maxmemory-policy becomes allkeys-lru',
    make: ({ client }) => client.config('SET', 'maxmemory-policy', 'allkeys-lru'),
  },
  {
    alerts: ['MillraceReloadFailed'],
    fault: 'a pipeline with an error is reloaded',
    short: true,
    make: async ({ root, service }) => {
      await writeFile(join(root, 'pipelines/items.yaml'), 'pipeline: items\n');
      service.child.kill('SIGHUP');
    },
  },
  {
    alerts: ['MillraceModelDisagrees'],
    fault: 'a model whose columns are shuffled is reloaded',
    short: true,
    make: async ({ root, service, load }) => {
      await writeFile(join(root, 'models/ltr.json'), model(-1));
      service.child.kill('SIGHUP');
      load('modelled', 20);
    },
  },
  {
    alerts: ['MillraceRollbackPending'],
    fault: 'the service is rolled back to a release that the store has lost',
    make: async ({ client }) => {
      const rollback = { version: '0123456789ab', since: Date.now() };
      await client.set(releasesKey('millrace'), encodeIndex({ releases: [], rollback }));
    },
  },
  {
    alerts: ['MillraceCurationRefused'],
    fault: 'a rule with an error is written to a curation list',
    short: true,
    make: ({ root }) =>
      writeFile(
        join(root, 'curation/campaigns.yaml'),
        'curation: campaigns\nrules:\n  - { pin: { one: i1 } }\n',
      ),
  },
  {
    alerts: ['MillraceVersionsDiffer'],
    fault: 'a second instance serves other files',
    make: async ({ another, watch }) => {
      const changed = pipeline(
        'items',
        `${items}  - use: boost\n    with: { where: item.version > 1, add: 1 }\n`,
      );
      await watch(await another({ 'pipelines/items.yaml': changed }));
    },
  },
  {
    alerts: ['MillraceSchemasDiffer'],
    fault: 'another service uses the prefix with another schema',
    make: ({ another }) =>
      another({ 'schemas/entities/item.yaml': 'entity: item\nattributes:\n  version: int\n  colour: int\n' }),
  },
  {
    alerts: ['MillraceSettingsDiffer'],
    fault: 'another instance remembers events for a longer time',
    make: ({ another }) => another({}, { MILLRACE_COUNTER_HORIZON: '1h' }),
  },
  {
    alerts: ['MillraceValuesMisfit'],
    fault: 'a reload declares an attribute with another type than the stored values have',
    make: async ({ root, service }) => {
      await writeFile(
        join(root, 'schemas/entities/item.yaml'),
        ITEM.replace('colour: string', 'colour: int'),
      );
      service.child.kill('SIGHUP');
    },
  },
  {
    alerts: ['MillraceEntitiesMissing', 'MillraceFeaturesMissing', 'MillraceStoreEmptied'],
    fault: 'Redis loses its data (FLUSHALL)',
    make: ({ client }) => client.flushall(),
  },
  {
    alerts: ['MillraceCacheBypassed'],
    fault: 'Redis no longer allows CLIENT TRACKING',
    make: async ({ client }) => {
      await client.call('ACL', 'SETUSER', 'default', '-client|tracking');
      await client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await client.client('KILL', 'TYPE', 'pubsub');
    },
  },
  {
    alerts: ['MillraceModelServerFails'],
    fault: 'the model server answers 500',
    make: ({ load, models }) => {
      models.behaviours = [(answer) => void answer.writeHead(500).end()];
      load('remote');
    },
  },
  {
    alerts: ['MillraceReaderFails'],
    fault: 'the reader of a view throws',
    short: true,
    make: ({ load }) => load('reads'),
  },
  {
    alerts: ['MillracePluginErrors'],
    fault: 'a plugin throws in a late callback',
    make: ({ load }) => load('strays', 2),
  },
  {
    alerts: ['MillraceLedgerDrops'],
    fault: 'the folder of the ledger cannot be made, and the queue is full',
    env: { MILLRACE_LEDGER_DIR: '/dev/null/ledger' },
    make: ({ load }) => load('logged', 200),
  },
  {
    alerts: ['MillraceWorkersRestart'],
    fault: 'kill -9 of a worker, four times',
    args: ['--workers', '2'],
    make: async ({ service }) => {
      for (let kills = 0; kills < 4; kills++) {
        const { pid } = service;
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
        process.kill(Number(children[0]), 'SIGKILL');
        await pause(1500);
      }
    },
  },
];

/** Keeps opening connections that send half a request, so that there is no place for new ones. */
function openConnections({ service, after }: AlertStage): void {
  const open = new Set<Socket>();
  const timer = setInterval(() => {
    for (let i = 0; i < 10 && open.size < 100; i++) {
      const socket = connect(service.port, '127.0.0.1');
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
      socket.write(
        'POST /api/v1/items HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n',
      );
    }
  }, 200);
  after(() => {
    clearInterval(timer);
    for (const socket of open) socket.destroy();
  });
}

/** Runs a service with stored items under a light load. */
export async function withAlertStage<T>(
  { args = [], env = {} }: Pick<AlertFault, 'args' | 'env'>,
  watch: (urls: readonly string[]) => Promise<void>,
  use: (stage: AlertStage) => Promise<T>,
): Promise<T> {
  const cleanups: (() => unknown)[] = [];
  const after = (work: () => unknown): void => void cleanups.unshift(work);
  try {
    const redis = await startRedisServer(['--maxmemory', '1gb']);
    after(() => redis.remove());
    const client = new Redis(redis.url);
    client.on('error', () => undefined);
    after(() => client.disconnect());
    const models = await startInferenceServer();
    after(() => models.close());
    const serve = async (
      files: Readonly<Record<string, string>>,
      more: readonly string[],
      own: Readonly<Record<string, string>> = {},
    ): Promise<{ readonly root: string; readonly service: ServiceProcess }> => {
      const root = await writeProject({ ...PROJECT, ...files });
      after(() => rm(root, { recursive: true, force: true }));
      const service = await startProcess(['--project', root, '--port', '0', ...more], {
        REDIS_URL: redis.url,
        MODELS: models.url,
        MILLRACE_MODEL_HOSTS: new URL(models.url).host,
        LOG_LEVEL: 'info',
        ...env,
        ...own,
      });
      after(async () => {
        service.child.kill('SIGKILL');
        await service.ended;
      });
      return { root, service };
    };
    const { root, service } = await serve({}, args);
    const services = [service];
    await watch([service.url]);
    await fill(service.url);
    const load = (name: string, perSecond = 10): void => {
      const candidates = Array.from({ length: ITEMS }, (_, i) => ({ item_id: `i${i}` }));
      const timer = setInterval(() => {
        void post(`${service.url}/api/v1/${name}`, { candidates }).catch(() => undefined);
      }, 1000 / perSecond);
      after(() => clearInterval(timer));
    };
    load('items');
    return await use({
      redis,
      client,
      models,
      root,
      service,
      load,
      after,
      another: async (files, own) => (await serve(files, [], own)).service,
      watch: (another) => watch([...services, another].map(({ url }) => url)),
    });
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

async function fill(url: string): Promise<void> {
  const ids = Array.from({ length: ITEMS }, (_, i) => `i${i}`);
  const entities = ids.map((item_id, i) => ({ item_id, version: i, colour: 'red' }));
  const rows = ids.map((item_id, i) => ({ item_id, boost: i }));
  for (const [path, body] of [
    ['/api/v1/entities/upload', { entity_type: 'item', entities }],
    ['/api/v1/features/push', { view: 'item_stats', rows }],
  ] as const) {
    const answer = await post(url + path, body);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    await answer.text();
  }
}

async function post(url: string, body: object): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(3000),
  });
  if (answer.status === 200) return answer;
  await answer.clone().arrayBuffer();
  return answer;
}
