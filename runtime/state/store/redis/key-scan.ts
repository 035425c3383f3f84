import type { Redis } from 'ioredis';
import { CursorError, type KeyPage } from '../store.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import { addressText, type RedisMasters } from './masters.js';

/** Maximum number of SCAN commands for one page. A page may be empty if the server holds many other keys. */
const MOST_COMMANDS = 50;

/** The position of a scan; the cursor encodes it. */
interface Place {
  /** The masters in scan order, as named by `serverOf`. */
  readonly servers: readonly string[];
  /** Index of the current master. */
  readonly at: number;
  /** The server's SCAN cursor. */
  readonly cursor: string;
}

/**
 * Lists keys with SCAN, one master after another, on separate connections. The cursor names the servers, because a SCAN
 * cursor is invalid on another server, and on the same server after a restart.
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
    // A concurrent call may have opened a new connection in the meantime.
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

/** An identifier of a server that changes when it restarts; its address if this user may not read the identifier. */
async function serverOf(redis: Redis, address: MasterAddress): Promise<string> {
  const info = await redis.info('server').catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ReplyError') return '';
    throw error;
  });
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? addressText(address);
}

/** Escapes a text for MATCH, so that it matches literally. */
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
    // The cursor is not valid JSON.
  }
  throw new CursorError('the cursor is not one of this store');
}
