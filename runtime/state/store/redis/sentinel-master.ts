import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { guardParser } from './guard-parser.js';
import { NotMasterError } from './failure.js';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';
import { addressText } from './masters.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import type { RedisAccess, Topology } from '../../../project/settings/redis-target.js';

/** Longest wait for the answers of all Sentinels, in milliseconds. */
const LONGEST_ANSWER = 300;

/** The answer of one Sentinel. */
interface Opinion {
  readonly master: MasterAddress;
  /** Epoch of the failover that promoted this master; a later failover has a higher epoch. */
  readonly epoch: number;
  readonly others: readonly MasterAddress[];
}

/**
 * Finds the current master. Some Sentinels learn of a failover later than others, and a master that hung still acts as
 * the master for some seconds. Therefore all Sentinels are asked, and the answer with the latest failover wins.
 *
 * Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */
export class SentinelMaster {
  readonly name: string;
  readonly #options: RedisOptions;
  readonly #sentinels: readonly MasterAddress[];
  /** Sentinels that the configured Sentinels have reported. */
  #others: readonly MasterAddress[] = [];

  constructor(
    place: Extract<Topology, { kind: 'sentinel' }>,
    access: RedisAccess,
    { connectTimeout }: ConnectionLimits,
  ) {
    const { sentinels, master, username, password } = place;
    this.name = master;
    this.#options = {
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      connectTimeout: Math.min(connectTimeout, LONGEST_ANSWER),
      disconnectTimeout: LONGEST_ANSWER,
      commandTimeout: Math.min(connectTimeout, LONGEST_ANSWER),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(access.tls === undefined ? {} : { tls: access.tls }),
    };
    this.#sentinels = sentinels;
  }

  /** Finds the master; undefined if no Sentinel answers. */
  async find(): Promise<MasterAddress | undefined> {
    const sentinels = eachOnce([...this.#sentinels, ...this.#others]);
    const opinions = (await Promise.all(sentinels.map((sentinel) => this.#ask(sentinel)))).filter(
      (opinion) => opinion !== undefined,
    );
    if (opinions.length === 0) return undefined;
    this.#others = opinions.flatMap(({ others }) => others);
    return opinions.reduce((latest, opinion) => (opinion.epoch > latest.epoch ? opinion : latest)).master;
  }

  /**
   * Call after the server has answered on the connection, so that the answers of the Sentinels are newer.
   * @throws NotMasterError
   */
  async confirm(remote: MasterAddress | undefined): Promise<void> {
    const master = await this.find();
    if (master === undefined || remote === undefined) throw new NotMasterError(undefined);
    if (master.port !== remote.port || !(await isAt(master.host, remote.host)))
      throw new NotMasterError(addressText(master));
  }

  async #ask({ host, port }: MasterAddress): Promise<Opinion | undefined> {
    const redis = new Redis({ ...this.#options, host, port });
    redis.on('error', () => undefined); // connect() rejects
    guardParser(redis);
    try {
      await redis.connect();
      const [address, state, others] = await Promise.all([
        redis.call('SENTINEL', 'get-master-addr-by-name', this.name),
        // A Sentinel that does not answer this command gets the lowest epoch.
        redis.call('SENTINEL', 'master', this.name).catch(() => []),
        redis.call('SENTINEL', 'sentinels', this.name).catch(() => []),
      ]);
      const master = addressOf(texts(address));
      if (master === undefined) return undefined;
      const epoch = Number(fieldOf(texts(state), 'config-epoch') ?? 0);
      return { master, epoch, others: Array.isArray(others) ? others.flatMap(reachable) : [] };
    } catch {
      return undefined;
    } finally {
      redis.disconnect();
    }
  }
}

function eachOnce(addresses: readonly MasterAddress[]): MasterAddress[] {
  return [...new Map(addresses.map((address) => [addressText(address), address])).values()];
}

/** Whether a host name or address resolves to this address. */
async function isAt(host: string, address: string): Promise<boolean> {
  if (host === address) return true;
  if (isIP(host) !== 0) return false;
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some((one) => one.address === address);
}

/** The address of a listed Sentinel, unless it is marked as disconnected. */
function reachable(entry: unknown): MasterAddress[] {
  const fields = texts(entry);
  if (fieldOf(fields, 'flags')?.includes('disconnected') ?? true) return [];
  const address = addressOf([fieldOf(fields, 'ip') ?? '', fieldOf(fields, 'port') ?? '']);
  return address === undefined ? [] : [address];
}

function addressOf([host = '', port = '']: readonly string[]): MasterAddress | undefined {
  return host === '' || !/^\d+$/.test(port) ? undefined : { host, port: Number(port) };
}

function texts(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/** Finds a value in a list that alternates names and values. */
function fieldOf(fields: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
  return undefined;
}
