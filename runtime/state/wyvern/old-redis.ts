import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

/** Keys of one step of a scan. */
const PAGE = 500;
/** The connection is closed if the server is silent for this long while a reply is in flight, in milliseconds. */
const SILENCE_MS = 30_000;

export interface OldPage {
  readonly keys: readonly string[];
  /** By position in `keys`; null for a key that holds no text. */
  readonly values: readonly (Buffer | null)[];
  /** Continues the scan; '0' after the last page. */
  readonly cursor: string;
}

/** The Redis of the old service. Only SCAN, MGET, DBSIZE and INFO are sent, so an account that may only read suffices. */
export class OldRedis {
  readonly #redis: Redis;
  #cause: Error | undefined;
  /** The address without its password, for messages. */
  readonly place: string;

  constructor(url: string) {
    const { protocol, host, pathname } = new URL(url);
    this.place = `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
    this.#redis = new Redis(url, {
      connectionName: 'millrace-import',
      lazyConnect: true,
      enableReadyCheck: false,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: SILENCE_MS,
      retryStrategy: () => null,
    });
    // A command on a closed connection does not say why it was closed.
    this.#redis.on('error', (error) => (this.#cause = error));
  }

  /** @throws CommandFailure */
  async open(): Promise<void> {
    await this.#ask(() => this.#redis.connect());
  }

  /** All keys of the database, of the old index or not. @throws CommandFailure */
  size(): Promise<number> {
    return this.#ask(() => this.#redis.dbsize());
  }

  /** Changes when the server restarts, after which a scan cannot be continued; '' if the account may not ask. */
  async run(): Promise<string> {
    const info = await this.#redis.info('server').catch(() => '');
    const [, run = ''] = /^run_id:(\w+)/m.exec(info) ?? [];
    return run === '' ? '' : createHash('sha256').update(run).digest('hex').slice(0, 16);
  }

  /** @throws CommandFailure */
  page(cursor: string, prefix: string): Promise<OldPage> {
    return this.#ask(async () => {
      const [next, keys] = await this.#redis.scan(cursor, 'MATCH', `${escaped(prefix)}*`, 'COUNT', PAGE);
      const values = keys.length === 0 ? [] : await this.#redis.mgetBuffer(...keys);
      return { keys, values, cursor: next };
    });
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const own = error instanceof Error ? error.message : String(error);
      const why = /Connection is closed|Stream isn't writeable/.test(own)
        ? (this.#cause?.message ?? own)
        : own;
      throw new CommandFailure(`the old Redis at ${this.place} cannot be read: ${why}`, helpFor(why), {
        cause: error,
      });
    }
  }
}

function helpFor(why: string): string {
  if (/NOAUTH|WRONGPASS/.test(why))
    return 'write user and password into the address: redis://user:password@host';
  if (/NOPERM/.test(why)) return 'the account needs SCAN, MGET and DBSIZE';
  return 'check the address of --redis';
}

/** A prefix as a pattern of SCAN, which gives *, ?, [ and \ a meaning. */
const escaped = (prefix: string): string => prefix.replace(/[*?[\]\\^]/g, '\\$&');
