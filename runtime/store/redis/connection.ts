import { Redis, ReplyError, type RedisOptions } from 'ioredis';
import { MillraceError } from '../../api/errors.js';

/** Bounds of a connection, in milliseconds and commands. */
export interface ConnectionLimits {
  /** Until the first connection stands, or `open` gives up. */
  readonly openWithin: number;
  /** Until a TCP or TLS connection stands. */
  readonly connectTimeout: number;
  /** Silence of a server that owes a reply, after which the connection is given up. */
  readonly socketTimeout: number;
  /** Until the reply to one command. */
  readonly commandTimeout: number;
  /** Longest pause between two attempts to connect. */
  readonly longestPause: number;
  /** Commands that wait for a reply; further ones are refused. */
  readonly inFlight: number;
}

/** Answers that no second attempt will change. */
const HOPELESS = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index)/;

/**
 * One connection to a Redis server. Nothing waits in a queue for a server that is not there, nothing is sent twice, and
 * a server that stops answering costs bounded time and memory.
 */
export class RedisConnection {
  readonly redis: Redis;
  /** `host:port`, for messages; never the password. */
  readonly address: string;
  readonly #limits: ConnectionLimits;
  #inFlight = 0;
  #lastError: Error | undefined;
  #closed = false;

  constructor(url: string, purpose: string, limits: ConnectionLimits) {
    this.address = addressOf(url);
    this.#limits = limits;
    this.redis = new Redis(url, {
      lazyConnect: true,
      connectionName: `millrace-${purpose}`,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      connectTimeout: limits.connectTimeout,
      socketTimeout: limits.socketTimeout,
      commandTimeout: limits.commandTimeout,
      keepAlive: 10_000,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 10), limits.longestPause),
    } satisfies RedisOptions);
    this.redis.on('error', (error: Error) => {
      this.#lastError = error;
    });
    this.redis.on('ready', () => {
      this.#lastError = undefined;
    });
  }

  /**
   * Waits for the first connection; a server that is still starting gets its time.
   * @throws MillraceError store_unavailable with the address, the reason and the remedy
   */
  async open(): Promise<void> {
    const until = Date.now() + this.#limits.openWithin;
    const redis = this.redis;
    redis.connect().catch((error: unknown) => {
      this.#lastError ??= error as Error;
    });
    while (redis.status !== 'ready') {
      const hopeless = this.#lastError !== undefined && HOPELESS.test(innermost(this.#lastError).message);
      if (hopeless || redis.status === 'end' || Date.now() >= until) {
        const reason = this.#reason();
        this.close();
        throw new MillraceError(
          'store_unavailable',
          `Redis at ${this.address} cannot be used: ${reason}. ${remedyOf(reason)}`,
          {
            cause: this.#lastError,
          },
        );
      }
      await changeOf(redis, Math.min(100, until - Date.now()));
    }
  }

  /**
   * Runs commands, `count` of them, and waits for their replies.
   * @throws MillraceError store_unavailable before anything is sent, if the connection is down or too much is in flight
   */
  async run<T>(count: number, send: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.unavailable(new Error('the store is closed'));
    if (this.redis.status !== 'ready') throw this.unavailable(this.#lastError);
    if (this.#inFlight > 0 && this.#inFlight + count > this.#limits.inFlight) {
      throw this.unavailable(new Error(`${this.#inFlight} commands wait for its replies already`));
    }
    this.#inFlight += count;
    try {
      return await send(this.redis);
    } catch (error) {
      this.noteFailure(error);
      throw error;
    } finally {
      this.#inFlight -= count;
    }
  }

  /** A command that timed out is still in ioredis's queue: only a new connection empties that. */
  noteFailure(error: unknown): void {
    if (error instanceof Error && error.message === 'Command timed out' && this.redis.status === 'ready') {
      this.redis.disconnect(true);
    }
  }

  /** What went wrong with the server or the way to it, for those who wait for an answer. */
  unavailable(error: unknown): MillraceError {
    if (error instanceof MillraceError) return error;
    const detail =
      error instanceof ReplyError
        ? `Redis at ${this.address} refused the command: ${firstLine((error as Error).message)}`
        : `Redis at ${this.address} does not answer: ${this.#reason(error)}`;
    return new MillraceError('store_unavailable', detail, { cause: error });
  }

  close(): void {
    this.#closed = true;
    this.redis.disconnect();
  }

  #reason(error: unknown = this.#lastError): string {
    const own = error instanceof Error ? reasonOf(innermost(error)) : 'no connection';
    if (own !== 'the connection was lost' || this.#lastError === undefined) return own;
    return reasonOf(innermost(this.#lastError));
  }
}

/** Resolves at the next change of the connection's status, or after a while. */
async function changeOf(redis: Redis, milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const events = ['ready', 'close', 'end', 'error'] as const;
    const done = (): void => {
      clearTimeout(timer);
      for (const event of events) redis.off(event, done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(1, milliseconds));
    for (const event of events) redis.once(event, done);
  });
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '6379' : port}`;
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no such host';
  if (code === 'ETIMEDOUT') return 'no connection within the time-out';
  if (error.message.startsWith('Socket timeout') || error.message === 'Command timed out')
    return 'no reply within the time-out';
  if (LOST.test(error.message)) return 'the connection was lost';
  return firstLine(error.message);
}

const LOST =
  /Connection is closed|Stream isn't writeable|max retries per request|ECONNRESET|EPIPE|aborted due to connection close/;

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}

function remedyOf(reason: string): string {
  if (HOPELESS.test(reason)) return 'Check the user, password and database of REDIS_URL';
  return 'Start it (redis-server) or set REDIS_URL; --store embedded needs no server';
}
