import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { MasterAddress } from '../../runtime/project/settings/redis-address.js';
import { secureArguments, type SecureServers } from './redis-cluster.js';
import { freePort, launchRedis, startRedisServer, type PrivateRedis } from './redis-server.js';
import { until } from './until.js';

/** A master with replicas, and Sentinels that monitor it under the name `main`. */
export interface PrivateSentinels {
  /** The master at the start is first. */
  readonly servers: readonly PrivateRedis[];
  readonly sentinels: readonly MasterAddress[];
  readonly master: string;
  /** Returns the port of the current master, according to the first Sentinel. */
  masterPort(): Promise<number>;
  remove(): Promise<void>;
}

export interface SentinelShape {
  readonly replicas: number;
  /** The master counts as down after this silence, in milliseconds. */
  readonly downAfter: number;
  /** The password that the Sentinels require. */
  readonly password?: string;
  /** For servers and Sentinels. */
  readonly secure?: SecureServers;
}

const MASTER = 'main';
const COUNT = 3;

export async function startRedisSentinels({
  replicas,
  downAfter,
  password,
  secure,
}: SentinelShape): Promise<PrivateSentinels> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-sentinel-'));
  const servers: PrivateRedis[] = [];
  const processes: ChildProcess[] = [];
  const sentinels: MasterAddress[] = [];
  const clients: Redis[] = [];
  const remove = async (): Promise<void> => {
    for (const client of clients) client.disconnect();
    for (const process of processes) {
      const gone =
        process.exitCode === null && process.signalCode === null ? once(process, 'exit') : undefined;
      process.kill('SIGKILL');
      await gone;
    }
    await Promise.all(servers.map((server) => server.remove()));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    // A replica that changes its master is available at once, not after the default of five seconds.
    const sync = ['--repl-diskless-sync-delay', '0'];
    const start = async (...more: string[]): Promise<number> => {
      const port = await freePort();
      const tls = secure === undefined ? [] : secureArguments(secure, port);
      const server = await startRedisServer([...sync, ...tls, ...more]);
      servers.push(server);
      return secure === undefined ? server.port : port;
    };
    const master = await start();
    for (let i = 0; i < replicas; i++) await start('--replicaof', `127.0.0.1 ${master}`);
    for (let i = 0, failed = 0; i < COUNT; i++) {
      const port = await freePort();
      const file = join(dir, `sentinel-${i}.conf`);
      const tlsPort = secure === undefined ? undefined : await freePort();
      const own = secure === undefined || tlsPort === undefined ? [] : tlsLines(secure, tlsPort);
      await writeFile(file, [...sentinelSettings(port, master, downAfter, password), ...own, ''].join('\n'));
      try {
        processes.push(await launchRedis([file, '--sentinel', '--dir', dir], '+monitor master'));
      } catch (error) {
        if (++failed === 5) throw error; // Either another process took the port each time, or the server is broken.
        i--;
        continue;
      }
      sentinels.push({ host: '127.0.0.1', port: tlsPort ?? port });
      clients.push(
        new Redis({ port, ...(password === undefined ? {} : { password }), enableReadyCheck: false }),
      );
    }
    await untilAllKnow(clients, replicas);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    servers,
    sentinels,
    master: MASTER,
    async masterPort() {
      const address = (await clients[0]?.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)) as string[];
      return Number(address[1]);
    },
    remove,
  };
}

function sentinelSettings(port: number, masterPort: number, downAfter: number, password?: string): string[] {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER} ${downAfter}`,
    `sentinel failover-timeout ${MASTER} 3000`,
    ...(password === undefined ? [] : [`requirepass ${password}`, `sentinel sentinel-pass ${password}`]),
  ];
}

/** Returns the arguments of a server as lines of a configuration file. */
function tlsLines({ tls, password }: SecureServers, port: number): string[] {
  const lines = [`tls-port ${port}`, `sentinel auth-pass ${MASTER} ${password}`];
  for (let i = 0; i < tls.length; i += 2) lines.push(`${(tls[i] ?? '').slice(2)} ${tls[i + 1] ?? ''}`);
  return lines;
}

/** Waits until every Sentinel knows the other Sentinels and the replicas. Before that a failover is impossible. */
async function untilAllKnow(clients: readonly Redis[], replicas: number): Promise<void> {
  await until('Sentinels that know each other', async () => {
    const states = await Promise.all(
      clients.map(async (client) => (await client.call('SENTINEL', 'MASTER', MASTER)) as string[]),
    );
    return states.every((state) => {
      const field = (name: string): number => Number(state[state.indexOf(name) + 1]);
      return field('num-other-sentinels') === COUNT - 1 && field('num-slaves') === replicas;
    });
  });
}
