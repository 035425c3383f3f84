import type { Redis } from 'ioredis';
import { CursorError, type KeyPage } from '../store.js';
import type { MasterAddress } from '../../settings/redis-address.js';
import { addressText, type RedisMasters } from './masters.js';

/** Commands of one page: a page may be empty if the server holds many other keys. */
const MOST_COMMANDS = 50;

/** Where a scan is. */
interface Place {
  /** The masters of the scan, as `serverOf` names them. They are scanned in this order. */
  readonly servers: readonly string[];
  /** The master that is scanned now. */
  readonly at: number;
  /** Of SCAN. */
  readonly cursor: string;
}

/**
 * Lists keys by SCAN, on one master after the other, on a connection of its own. The cursor names the servers: SCAN's
 * own cursor means nothing to another server, nor to the same one after a restart.
 */
export class KeyScan {
  readonly #masters: RedisMasters;
  readonly #connections = new Map<string, Promise<Redis>>();

  constructor(masters: RedisMasters) {
    this.#masters = masters;
  }

  /** @throws CursorError; whatever the server throws */
  async page(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    const masters = new Map<string, Redis>();
    for (const address of this.#masters.current()) {
      const redis = await this.#connection(address);
      masters.set(await serverOf(redis, address), redis);
    }
    let place =
      cursor === undefined ? { servers: [...masters.keys()].sort(), at: 0, cursor: '0' } : decode(cursor);
    if (place.servers.length !== masters.size || !place.servers.every((server) => masters.has(server)))
      throw new CursorError(
        'the servers have changed or were restarted since the scan began; start it again',
      );
    const keys: string[] = [];
    for (let command = 0; command < MOST_COMMANDS && keys.length < count; command++) {
      const redis = masters.get(place.servers[place.at] ?? '');
      if (redis === undefined) throw new CursorError('the cursor is damaged');
      const [next, found] = await redis.scan(place.cursor, 'MATCH', `${escaped(start)}*`, 'COUNT', count);
      keys.push(...found);
      const isDone = next === '0';
      if (isDone && place.at + 1 === place.servers.length) return { keys, cursor: undefined };
      place = { ...place, at: isDone ? place.at + 1 : place.at, cursor: next };
    }
    return { keys, cursor: encode(place) };
  }

  close(): void {
    for (const connecting of this.#connections.values())
      void connecting.then(
        (redis) => redis.disconnect(),
        () => undefined,
      );
    this.#connections.clear();
  }

  async #connection(address: MasterAddress): Promise<Redis> {
    const name = addressText(address);
    const open = this.#connections.get(name);
    if (open !== undefined) {
      const redis = await open.catch(() => undefined);
      if (redis?.status === 'ready') return redis;
    }
    // Another page may have opened a new one meanwhile.
    const other = this.#connections.get(name);
    if (other !== undefined && other !== open) return await other;
    const connecting = this.#connect(address);
    this.#connections.set(name, connecting);
    return await connecting;
  }

  async #connect(address: MasterAddress): Promise<Redis> {
    const redis = this.#masters.connect(address, 'scan');
    let failure: Error | undefined;
    redis.on('error', (error: Error) => (failure = error));
    await redis.connect().catch((error: unknown) => {
      redis.disconnect();
      throw failure ?? error;
    });
    return redis;
  }
}

/** Names a server until it restarts; by its address if it does not let this user ask. */
async function serverOf(redis: Redis, address: MasterAddress): Promise<string> {
  const info = await redis.info('server').catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ReplyError') return '';
    throw error;
  });
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? addressText(address);
}

/** A text for MATCH that stands for itself. */
function escaped(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&');
}

function encode({ servers, at, cursor }: Place): string {
  return Buffer.from(JSON.stringify([servers, at, cursor])).toString('base64url');
}

function decode(text: string): Place {
  try {
    const [servers, at, cursor] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const isPlace =
      Array.isArray(servers) &&
      servers.every((server) => typeof server === 'string') &&
      typeof at === 'number' &&
      typeof cursor === 'string' &&
      /^\d{1,20}$/.test(cursor);
    if (isPlace) return { servers, at, cursor };
  } catch {
    // Not JSON.
  }
  throw new CursorError('the cursor is not one of this store');
}
