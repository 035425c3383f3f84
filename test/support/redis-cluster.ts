import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { MasterAddress } from '../../runtime/project/settings/redis-address.js';
import { startRedisServer, type PrivateRedis } from './redis-server.js';
import { until } from './until.js';

const SLOTS = 16_384;

/** A private Redis Cluster on this machine. */
export interface PrivateCluster {
  /** Masters first, then replicas: the replica of master i is at masters + i. The roles are those at the start. */
  readonly servers: readonly PrivateRedis[];
  readonly addresses: readonly MasterAddress[];
  /** A client of one server, for the test's own commands. */
  client(server: number): Redis;
  /**
   * Moves the slot to another master, including its keys, in the same steps as redis-cli. `between` runs half way.
   *
   * A step that fails is tried again, since a server may be killed at any time. The steps may be repeated: the source has a
   * key until the target has confirmed it, and answers for it that long. A copy that a killed source did not know to be
   * confirmed is replaced.
   */
  migrate(slot: number, from: number, to: number, between?: () => Promise<void>): Promise<void>;
  /**
   * Resolves once all servers name the same owner of a slot, with the same epoch. A slot that moves on before that may stay
   * with an owner whose epoch is higher, for some of them.
   */
  agree(slot: number): Promise<void>;
  remove(): Promise<void>;
}

export interface ClusterShape {
  readonly masters: number;
  /** Adds one replica per master. */
  readonly replicas: boolean;
  /**
   * A node counts as down after this silence, in milliseconds. The default outlasts a busy machine: with less, nodes
   * that only wait for a processor count as down, and the whole cluster refuses commands (CLUSTERDOWN).
   */
  readonly nodeTimeout?: number;
  /** More arguments of redis-server. */
  readonly args?: readonly string[];
  readonly secure?: SecureServers;
}

/** Servers that use TLS, also between each other, and require a password. The test's own clients do not use TLS. */
export interface SecureServers {
  /** Arguments of redis-server with the certificates. */
  readonly tls: readonly string[];
  readonly password: string;
}

/** Starts servers and joins them to a cluster. Resolves once every server reports that the cluster is complete. */
export async function startRedisCluster({
  masters,
  replicas,
  nodeTimeout = 5000,
  args = [],
  secure,
}: ClusterShape): Promise<PrivateCluster> {
  const enabled = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeout)];
  const tuned = [...enabled, ...args, '--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
  const count = replicas ? masters * 2 : masters;
  const servers: PrivateRedis[] = [];
  const ports: number[] = [];
  for (let i = 0; i < count; i++) {
    if (secure === undefined) servers.push(await startRedisServer(tuned, clusterPort));
    else {
      const port = await clusterPort();
      servers.push(
        await startRedisServer([...tuned, ...secureArguments(secure, port), '--tls-cluster', 'yes']),
      );
      ports.push(port);
    }
  }
  const portOf = (server: number): number => ports[server] ?? servers[server]?.port ?? 0;
  const password = secure === undefined ? {} : { password: secure.password };
  const clients = servers.map(({ port }) => {
    const client = new Redis({ port, ...password, retryStrategy: () => 50, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined); // Servers are killed on purpose.
    return client;
  });
  const client = (server: number): Redis => {
    const found = clients[server];
    if (found === undefined) throw new Error(`the cluster has no server ${server}`);
    return found;
  };
  const remove = async (): Promise<void> => {
    for (const one of clients) one.disconnect();
    await Promise.all(servers.map((server) => server.remove()));
  };
  const idOf = (server: number): Promise<string> => client(server).cluster('MYID');

  try {
    for (let i = 0; i < masters; i++) {
      const first = Math.ceil((SLOTS / masters) * i);
      const last = Math.ceil((SLOTS / masters) * (i + 1)) - 1;
      await client(i).cluster('ADDSLOTS', ...Array.from({ length: last - first + 1 }, (_, n) => first + n));
      await client(i).call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    }
    for (let i = 1; i < count; i++) await client(0).cluster('MEET', '127.0.0.1', portOf(i));
    await until('nodes that know each other', async () => (await knownTo(client(0))) === count);
    for (let i = masters; i < count; i++) {
      const master = await idOf(i - masters);
      await until(
        'a replica that knows its master',
        async () =>
          (await client(i)
            .cluster('REPLICATE', master)
            .catch(() => '')) === 'OK',
      );
    }
    await until('a complete cluster', async () => {
      const complete = await Promise.all(clients.map((one) => isComplete(one, count)));
      return complete.every(Boolean);
    });
    if (replicas) {
      await until('replicas in step', async () => {
        const lags = clients
          .slice(masters)
          .map(async (one) => /master_link_status:up/.test(await one.info('replication')));
        return (await Promise.all(lags)).every(Boolean);
      });
    }
  } catch (error) {
    await remove();
    throw error;
  }

  return {
    servers,
    addresses: servers.map((_, i) => ({ host: '127.0.0.1', port: portOf(i) })),
    client,
    async migrate(slot, from, to, between) {
      const [source, target] = [await step(() => idOf(from)), await step(() => idOf(to))];
      await step(() => client(to).cluster('SETSLOT', slot, 'IMPORTING', source));
      await step(() => client(from).cluster('SETSLOT', slot, 'MIGRATING', target));
      const keys = await step(() => client(from).cluster('GETKEYSINSLOT', slot, 100_000));
      const half = Math.ceil(keys.length / 2);
      for (const [i, key] of keys.entries()) {
        if (i === half) await between?.();
        await step(() =>
          client(from).call('MIGRATE', '127.0.0.1', servers[to]?.port ?? 0, key, 0, 5000, 'REPLACE'),
        );
      }
      if (keys.length <= half) await between?.();
      // The new owner comes first, so that the redirects of the old owner lead to a node that knows the slot.
      for (const server of [to, from])
        await step(() => client(server).cluster('SETSLOT', slot, 'NODE', target));
    },
    async agree(slot) {
      await until('servers that agree on the owner of a slot', async () => {
        const views = await Promise.all(clients.map((one) => one.cluster('NODES') as Promise<string>));
        const owners = views.map((view) => ownerIn(view, slot));
        return owners[0] !== undefined && owners.every((owner) => owner === owners[0]);
      });
    },
    remove,
  };
}

/** The id and the epoch of the owner of a slot, in an answer of CLUSTER NODES. */
function ownerIn(view: string, slot: number): string | undefined {
  for (const line of view.split('\n')) {
    const [id, , , , , , epoch, , ...ranges] = line.split(' ');
    for (const range of ranges) {
      const [first, last = first] = range.split('-').map(Number);
      if (first !== undefined && last !== undefined && first <= slot && slot <= last) return `${id} ${epoch}`;
    }
  }
  return undefined;
}

/** How long a step of a migration may fail, in milliseconds. A master that comes back takes no writes for two seconds. */
const STEP_MS = 30_000;

/** Tries a step again until it succeeds, or throws its last error. */
async function step<T>(attempt: () => Promise<T>): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() - began > STEP_MS) throw error;
      await pause(50);
    }
  }
}

export function secureArguments({ tls, password }: SecureServers, port: number): string[] {
  return ['--tls-port', String(port), ...tls, '--requirepass', password, '--masterauth', password];
}

async function knownTo(client: Redis): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(await client.cluster('INFO'))?.[1]);
}

async function isComplete(client: Redis, nodes: number): Promise<boolean> {
  const info = await client.cluster('INFO');
  return /cluster_state:ok/.test(info) && (await knownTo(client)) === nodes;
}

/**
 * Returns a free port whose cluster bus port, 10,000 higher, is also free. Both are below the range of client ports.
 */
async function clusterPort(): Promise<number> {
  for (;;) {
    const port = 17_000 + Math.floor(Math.random() * 5000);
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
