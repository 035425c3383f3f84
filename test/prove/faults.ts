import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import {
  RANKING_LIMIT,
  startTortureService,
  type TortureService,
} from '../torture/support/torture-service.js';
import { FaultLoad, type FaultAnswer } from './support/fault-load.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const run = promisify(execFile);

/** The processes and clients that a fault acts on. */
interface Stage {
  readonly redis: PrivateRedis;
  readonly proxy: TcpProxy;
  /** Connects directly to the server, not through the proxy. */
  readonly client: Redis;
  readonly service: TortureService;
  readonly load: FaultLoad;
}

interface Fault {
  readonly name: string;
  /** True if the short run includes the fault. */
  readonly short?: true;
  /** Injects the fault. Resolves when the fault is active, with a function that repairs it. */
  readonly make: (stage: Stage) => Promise<() => Promise<unknown>>;
  /** Statuses other than 200 and 503 that rankings may have during the fault. */
  readonly odd?: readonly number[];
}

/**
 * A module that moves the clock of the service forward by an hour, or back, whenever the process receives SIGWINCH. Most
 * other signals would end the process.
 */
const CLOCK = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; let by = 0; Date.now = () => now() + by; process.on("SIGWINCH", () => { by = by === 0 ? 36e5 : 0; });',
)}`;
const OTHER_SCHEMA = {
  'schemas/entities/item.yaml': 'entity: item\nattributes:\n  version: string\n  maker: ref(maker)\n',
  'pipelines/items.yaml':
    'pipeline: items\nrank: item\ncomponents:\n  - use: score\n    with: { value: item.maker.rating }\n',
  'schemas/entities/maker.yaml': 'entity: maker\nattributes:\n  rating: int\n',
};

const FAULTS: readonly Fault[] = [
  {
    name: 'Redis is killed, and starts empty',
    short: true,
    make: async ({ redis, load }) => {
      await redis.stop();
      return async () => {
        await redis.start();
        await load.prepare();
      };
    },
  },
  {
    name: 'Redis is stopped (SIGSTOP)',
    short: true,
    make: ({ redis }) => {
      process.kill(redis.pid(), 'SIGSTOP');
      return Promise.resolve(() => Promise.resolve(process.kill(redis.pid(), 'SIGCONT')));
    },
  },
  { name: 'slow: a byte each 5 ms', make: weather('drip') },
  { name: 'cut: packets are dropped', make: weather('blackhole') },
  { name: 'flipped bits on the wire', make: weather('garbled') },
  {
    name: 'CLIENT KILL each 100 ms',
    short: true,
    make: ({ client }) => {
      const kill = (): void => void client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes').catch(() => 0);
      const timer = setInterval(kill, 100);
      return Promise.resolve(() => {
        clearInterval(timer);
        return Promise.resolve();
      });
    },
  },
  {
    name: '`READONLY`: it becomes a replica',
    short: true,
    make: async ({ client }) => {
      await client.replicaof('127.0.0.1', 1);
      return () => client.replicaof('NO', 'ONE');
    },
  },
  {
    name: '`OOM`: its memory is full',
    short: true,
    make: async ({ client }) => {
      await client.config('SET', 'maxmemory', '1');
      return () => client.config('SET', 'maxmemory', '0');
    },
  },
  {
    name: '`LOADING`: it reads its data again',
    short: true,
    make: async ({ client, redis }) => {
      // The server sleeps for 2 ms per key, so it is still loading when the fault is repaired.
      await client.config('SET', 'key-load-delay', '2000');
      const reloading = client.call('DEBUG', 'RELOAD').catch(() => undefined);
      const other = new Redis(redis.url, { enableReadyCheck: false });
      while (!(await other.info('persistence')).includes('\r\nloading:1')) await pause(20);
      return async () => {
        await other.config('SET', 'key-load-delay', '0');
        await reloading;
        other.disconnect();
      };
    },
  },
  {
    name: '`MISCONF`: its disk is full',
    make: async ({ client }) => {
      // The server's folder is not restored, so faults that need it must come earlier in the list.
      const [, folder = ''] = (await client.config('GET', 'dir')) as string[];
      await rm(folder, { recursive: true });
      await client.config('SET', 'save', '3600 1');
      await client.bgsave();
      while (!(await client.info('persistence')).includes('bgsave_status:err')) await pause(20);
      return () => client.config('SET', 'save', '');
    },
  },
  {
    name: '`BUSY`: a script runs',
    make: async ({ client, redis }) => {
      await client.config('SET', 'busy-reply-threshold', '50');
      const script = client.eval('while true do end', 0).catch(() => undefined);
      await pause(100);
      return async () => {
        const other = new Redis(redis.url, { enableReadyCheck: false });
        await other.script('KILL');
        await script;
        other.disconnect();
      };
    },
  },
  {
    name: 'SWAPDB: an empty database takes its place',
    short: true,
    make: async ({ client }) => {
      await client.swapdb(0, 1);
      return () => client.swapdb(0, 1);
    },
  },
  {
    name: 'FLUSHALL',
    make: async ({ client, load }) => {
      await client.flushall();
      return () => load.prepare();
    },
  },
  {
    name: 'eviction of all keys (allkeys-lru)',
    make: async ({ client, load }) => {
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '1');
      await client.set('other', 'v').catch(() => undefined);
      return async () => {
        await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
        await load.prepare();
      };
    },
  },
  {
    name: 'wrong type: every tenth key is a list',
    make: async ({ client, load }) => {
      const keys = (await client.keys('millrace:*:item:*')).filter((_, i) => i % 10 === 0);
      await Promise.all(keys.map((key) => client.multi().del(key).lpush(key, 'v').exec()));
      return async () => {
        await client.del(...keys);
        await load.prepare();
      };
    },
  },
  {
    name: 'flipped bits in every tenth record',
    make: async ({ client, load }) => {
      const keys = (await client.keys('millrace:*:item:*')).filter((_, i) => i % 10 === 0);
      for (const key of keys) {
        const record = await client.getBuffer(key);
        if (record === null) continue;
        for (let at = 0; at < record.length; at += 7) record[at] = (record[at] ?? 0) ^ 0x55;
        await client.set(key, record);
      }
      return async () => {
        await client.del(...keys);
        await load.prepare();
      };
    },
  },
  {
    name: "the service's clock jumps by an hour",
    make: ({ service }) => {
      process.kill(service.pid, 'SIGWINCH');
      return Promise.resolve(() => Promise.resolve(process.kill(service.pid, 'SIGWINCH')));
    },
  },
  {
    name: 'descriptors are exhausted, and connections to Redis break',
    odd: [0],
    make: async ({ service, client }) => {
      const open = (await readdir(`/proc/${service.pid}/fd`)).length;
      await run('prlimit', ['--pid', String(service.pid), `--nofile=${open}:`]);
      await client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      return () => run('prlimit', ['--pid', String(service.pid), '--nofile=4096:']);
    },
  },
  {
    name: 'two schemas on one prefix',
    short: true,
    make: async ({ redis, load }) => {
      const other = await startTortureService({ REDIS_URL: redis.url, LOG_LEVEL: 'info' }, OTHER_SCHEMA);
      load.readyUrl = other.url;
      await load.settle();
      load.reset();
      return async () => {
        load.readyUrl = load.url;
        await other.stop();
      };
    },
  },
];

/** Tolerance beyond the time limit of a ranking, milliseconds: the load and Redis share the machine. */
const SLACK = 250;
const RECOVERS_WITHIN = 3000;
const MOST_GROWTH = 60;

/** Measures faults of Redis and of the machine under a steady load of rankings, uploads and pushes. */
export const faults: Proof = {
  name: 'faults',
  summary: 'what clients get while Redis or the machine fails, and how soon it is over',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const hold = short ? 1000 : 4000;
  const redis = await startRedisServer([
    ...['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'],
  ]);
  const proxy = await startTcpProxy(redis.port);
  const service = await startTortureService({
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
    NODE_OPTIONS: `--import ${CLOCK}`,
  });
  const rows: string[] = [];
  const missed: string[] = [];
  const load = new FaultLoad(service.url, short ? 40 : 100);
  try {
    await load.prepare();
    load.start();
    await pause(hold);
    for (const fault of FAULTS) {
      if (short && fault.short === undefined) continue;
      console.log(`    ${fault.name}`);
      const client = new Redis(redis.url, { maxRetriesPerRequest: null });
      client.on('error', () => undefined);
      try {
        rows.push(await measure(fault, { redis, proxy, client, service, load }, hold, missed));
      } catch (error) {
        missed.push(`${fault.name}: the service or its Redis ended (${String(error)})`);
        break;
      } finally {
        client.disconnect();
      }
    }
  } finally {
    await load.stop();
    await service.stop();
    await proxy.close();
    await redis.remove();
  }
  return { markdown: [...HEAD, ...rows].join('\n'), missed };
}

const HEAD = [
  `Rankings have a limit of ${RANKING_LIMIT} ms. The fault lasts for some seconds under steady rankings, uploads and`,
  'pushes. The p99 is that of the rankings during the fault. Recovery is the time from the repair to the last answer of a',
  'ranking that was not 200. Memory is the growth of the resident set.',
  '',
  '| fault | rankings | p99 | uploads and pushes | `/readyz` | memory | recovery |',
  '| ----- | -------- | --- | ------------------ | --------- | ------ | -------- |',
];

async function measure(fault: Fault, stage: Stage, hold: number, missed: string[]): Promise<string> {
  const { load, service } = stage;
  await load.settle();
  const before = await service.memory();
  load.reset();
  const repair = await fault.make(stage);
  await pause(hold / 2);
  const ready = await load.readiness();
  await pause(hold / 2);
  const rankings = load.rankings.splice(0);
  const writes = load.writes.splice(0);
  const repaired = performance.now();
  await repair();
  const isWell = await load.settle();
  const failed = load.rankings.filter(({ status, at }) => status !== 200 && at > repaired);
  const recovery = failed.length === 0 ? 0 : Math.max(...failed.map(({ at }) => at)) - repaired;
  const growth = ((await service.memory()) - before) / 1024 / 1024;
  const slowest = percentile(rankings, 0.99);
  const allowed = new Set([200, 503, ...(fault.odd ?? [])]);
  const odd = [...rankings, ...load.rankings].filter(({ status }) => !allowed.has(status));
  const miss = (figure: string, bound: string, value: string): void =>
    void missed.push(`${fault.name}: ${figure}, bound ${bound}, was ${value}`);
  if (odd.length > 0) miss('answers other than 200 and 503', '0', mixOf(odd));
  if (slowest > RANKING_LIMIT + SLACK) miss('p99', `${RANKING_LIMIT + SLACK} ms`, `${slowest.toFixed(0)} ms`);
  if (!isWell) miss('recovery', `${RECOVERS_WITHIN} ms`, 'not within 30 s');
  if (recovery > RECOVERS_WITHIN) miss('recovery', `${RECOVERS_WITHIN} ms`, `${recovery.toFixed(0)} ms`);
  if (growth > MOST_GROWTH) miss('memory', `${MOST_GROWTH} MB`, `${growth.toFixed(0)} MB`);
  return (
    `| ${fault.name} | ${mixOf(rankings)} | ${slowest.toFixed(0)} ms | ${mixOf(writes)} | ${ready} ` +
    `| ${growth.toFixed(0)} MB | ${(recovery / 1000).toFixed(1)} s |`
  );
}

/** Formats answers as `200 93 %, 503 store_unavailable 7 %`, most frequent first. */
function mixOf(answers: readonly FaultAnswer[]): string {
  const counts = new Map<string, number>();
  for (const { status, told } of answers) {
    const name = status === 0 ? 'no connection' : told === '' ? String(status) : `${status} \`${told}\``;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${((100 * count) / answers.length).toFixed(0)} %`)
    .join(', ');
}

function percentile(answers: readonly FaultAnswer[], share: number): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.floor(share * (times.length - 1))] ?? 0;
}

function weather(kind: TcpProxy['weather']): Fault['make'] {
  return ({ proxy }) => {
    proxy.weather = kind;
    return Promise.resolve(() => Promise.resolve((proxy.weather = 'clear')));
  };
}
