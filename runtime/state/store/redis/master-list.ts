import { Redis } from 'ioredis';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';
import { guardParser } from './guard-parser.js';
import { addressText, type RedisMasters } from './masters.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import { nodeOptions } from './node-options.js';
import type { RedisAccess } from '../../../project/settings/redis-target.js';

type Listener = (masters: readonly MasterAddress[]) => void;

/** The known masters, and the listeners for their changes. */
export class MasterList implements RedisMasters {
  readonly #access: RedisAccess;
  readonly #limits: ConnectionLimits;
  readonly #listeners = new Set<Listener>();
  #masters: readonly MasterAddress[] = [];

  constructor(access: RedisAccess, limits: ConnectionLimits) {
    this.#access = access;
    this.#limits = limits;
  }

  /** Call before the first command to a new master. */
  set(masters: readonly MasterAddress[]): void {
    const before = new Set(this.#masters.map(addressText));
    if (before.size === masters.length && masters.every((one) => before.has(addressText(one)))) return;
    this.#masters = Object.freeze([...masters]);
    for (const listener of this.#listeners) listener(this.#masters);
  }

  current(): readonly MasterAddress[] {
    return this.#masters;
  }

  on(_event: 'change', listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  connect({ host, port }: MasterAddress, purpose: string): Redis {
    const redis = new Redis({
      ...nodeOptions(this.#access, this.#limits, purpose),
      host,
      port,
      retryStrategy: () => null,
    });
    guardParser(redis);
    return redis;
  }
}
