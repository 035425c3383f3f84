import { Redis, type RedisOptions } from 'ioredis';
import { MillraceError } from '../../../ground/api/errors.js';
import {
  CrowdedError,
  isGone,
  isHopeless,
  isRefused,
  isReply,
  LoadingError,
  NoReplyError,
  reasonFor,
  remedyFor,
  unavailable,
} from './failure.js';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';
import { guardParser } from './guard-parser.js';
import { GarbledReplyError } from './reply-reader.js';
import { addressText } from './masters.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import type { RedisObserver } from '../../../project/settings/redis-observer.js';
import { nodeOptions, sentinelOptions } from './node-options.js';
import { SentinelMaster } from './sentinel-master.js';
import type { RedisAccess, Topology } from '../../../project/settings/redis-target.js';
import { ReplyWatchdog } from './reply-watchdog.js';
import { watchInfo } from './watch-info.js';
import { unfenced, WriteFence } from './write-fence.js';

/** How long a read waits for a new connection when its own breaks, in milliseconds. Its deadline may end the wait earlier. */
const RECOVERY = 500;
/** Longest pause before a reconnect if the server accepts connections and then closes them, in milliseconds. */
const LONGEST_BREAK = 50;
/** How long the connection is watched for a change before its state is checked anyway, in milliseconds. */
const LONGEST_WAIT = 50;
/** Event that is emitted on the ioredis client when the connection may be used. */
const READY = 'millrace:ready';

/** The purpose and the address of a connection. */
export interface ConnectionTarget {
  readonly place: MasterAddress | Extract<Topology, { kind: 'sentinel' }>;
  readonly purpose: 'read' | 'write' | 'feast';
  readonly access: RedisAccess;
  readonly limits: ConnectionLimits;
}

/**
 * One connection to a Redis server. No command waits in a queue for a lost server, and no write is sent twice. If the
 * server stops answering, the socket is destroyed and a new connection is opened, because only this empties ioredis's
 * command queue. A silent server therefore costs bounded time and memory.
 */
export class RedisConnection {
  readonly redis: Redis;
  /** `host:port`, for messages; never the password. */
  readonly address: string;
  readonly #limits: ConnectionLimits;
  readonly #warn: ((message: string) => void) | undefined;
  readonly #observer: RedisObserver | undefined;
  readonly #isStore: boolean;
  /** Undefined for reads: a late read does no harm. */
  readonly #fence: WriteFence | undefined;
  /** Undefined if the address is fixed. */
  readonly #master: SentinelMaster | undefined;
  readonly #watchdog: ReplyWatchdog;
  readonly #listeners: (() => void)[] = [];
  #ready = false;
  #warned = false;
  /** When the last ready connection broke, by `performance.now()`. */
  #brokenAt = -Infinity;
  #recovery: Promise<boolean> | undefined;
  #lastError: Error | undefined;
  #closed = false;
  #renewed = -Infinity;

  constructor({ place, purpose, access, limits }: ConnectionTarget) {
    this.address =
      'sentinels' in place
        ? `${place.master} (Sentinels ${place.sentinels.map(addressText).join(', ')})`
        : addressText(place);
    this.#limits = limits;
    this.#warn = access.warn;
    this.#observer = access.observer;
    this.#isStore = purpose !== 'feast';
    this.#fence = purpose === 'write' ? new WriteFence() : undefined;
    let way: RedisOptions;
    if ('sentinels' in place) {
      this.#master = new SentinelMaster(place, access, limits);
      way = sentinelOptions(place, this.#master, access, limits);
    } else way = { host: place.host, port: place.port };
    this.redis = new Redis({
      ...nodeOptions(access, limits, purpose),
      ...way,
      // Reconnect at once after a broken connection. Pauses grow long only if the server is gone.
      retryStrategy: (attempt) => {
        if (attempt === 1) return 1;
        const longest = isGone(this.#lastError) ? limits.longestPause : LONGEST_BREAK;
        return Math.min(25 * 2 ** Math.min(attempt - 2, 10), longest, limits.longestPause);
      },
    });
    guardParser(this.redis);
    this.#watchdog = new ReplyWatchdog(limits, {
      isInHandshake: () => this.redis.status === 'connect' || (this.redis.status === 'ready' && !this.#ready),
      checkIdle: () => this.#checkIdle(),
      // This rejects the commands without a reply, and drops the unsent commands.
      giveUp: () => this.redis.stream.destroy(new NoReplyError()),
    });
    watchInfo(this.redis, (isLoading) => {
      this.#watchdog.noteProgress();
      if (isLoading) this.#lastError = new LoadingError();
    });
    this.redis.on('error', (error: Error) => (this.#lastError = error));
    this.redis.on('connect', () => this.#watchdog.watch(this.redis.stream));
    this.redis.on('ready', () => void this.#prepare());
    this.redis.on('close', () => this.broke());
    this.redis.on('end', () => this.#startAgain());
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Address of the connected server; undefined while there is no connection. */
  get remote(): MasterAddress | undefined {
    const { stream } = this.redis;
    if (!('remoteAddress' in stream)) return undefined;
    const { remoteAddress: host, remotePort: port } = stream;
    return host === undefined || port === undefined ? undefined : { host, port };
  }

  /** Calls back each time the connection becomes ready. */
  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Number of keys or records in flight. */
  get owed(): number {
    return this.#watchdog.count;
  }

  /** Starts connecting. After that, it reconnects until `close`. */
  start(): void {
    this.redis.connect().catch((error: unknown) => (this.#lastError ??= error as Error));
  }

  /**
   * Waits for the first connection, for at most `openWithin`.
   * @throws MillraceError store_unavailable with the address, the reason and the remedy
   */
  async open(): Promise<void> {
    this.start();
    if (await this.becomesReady(this.#limits.openWithin)) return;
    const reason = reasonFor(this.#lastError, this.#lastError);
    this.close();
    throw new MillraceError(
      'store_unavailable',
      `Redis at ${this.address} cannot be used: ${reason}. ${remedyFor(reason, this.#master !== undefined, this.#isStore)}`,
      { cause: this.#lastError },
    );
  }

  /**
   * Resolves to true when the connection is ready, and to false after `milliseconds`. It resolves to false early if the
   * connection can never become ready.
   */
  becomesReady(milliseconds: number): Promise<boolean> {
    const until = performance.now() + milliseconds;
    return this.#awaitReady(() => until, isHopeless);
  }

  /**
   * Runs commands and waits for their replies.
   * @param count number of keys or records of the commands, for the limit on commands in flight
   * @param bytes size of the sent values, for the limit on bytes in flight
   * @throws MillraceError store_unavailable before anything is sent, if the connection is down or too much is in
   *   flight; whatever `send` throws
   */
  async run<T>(count: number, bytes: number, send: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.unavailable(new Error('the store is closed'));
    if (!this.ready) throw this.unavailable(this.#lastError);
    if (!this.#watchdog.hasRoom(count, bytes)) throw this.#crowded();
    const sent = this.#watchdog.begin(count, bytes);
    try {
      return await send(this.redis);
    } finally {
      this.#watchdog.end(sent);
    }
  }

  /**
   * Runs a read. If the connection breaks, it waits a short time for the new connection and retries once. The retry is
   * safe, because reads have no side effects. It does not wait for a server that is silent or refuses connections.
   * @param read calls `run`
   * @throws whatever `read` throws
   */
  async retryOnce<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!this.ready) await this.#recovers();
    try {
      return await read();
    } catch (error) {
      if (isReply(error) || error instanceof CrowdedError || error instanceof GarbledReplyError) throw error;
      if (!(await this.#recovers()) || signal?.aborted === true) throw error;
      this.#observer?.retried();
      return read();
    }
  }

  /** Resolves to true if a connection that has just broken is ready again within RECOVERY. */
  #recovers(): Promise<boolean> {
    this.#recovery ??= this.#awaitRecovery().finally(() => (this.#recovery = undefined));
    return this.#recovery;
  }

  async #awaitRecovery(): Promise<boolean> {
    // The close event of a broken stream arrives in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    return this.#awaitReady(() => this.#brokenAt + RECOVERY, isGone);
  }

  /**
   * Resolves to true when the connection is ready, or to false when the time is over or waiting is in vain.
   * @param until by `performance.now()`; read again after each change of the connection
   */
  async #awaitReady(
    until: () => number,
    isInVain: (lastError: Error | undefined) => boolean,
  ): Promise<boolean> {
    while (!this.ready) {
      const left = until() - performance.now();
      if (this.#closed || left <= 0 || isInVain(this.#lastError)) return false;
      await changeOf(this.redis, Math.min(LONGEST_WAIT, left));
    }
    return true;
  }

  /** @throws whatever `run` and the server throw */
  async ping(): Promise<void> {
    await this.run(1, 0, (redis) => redis.ping());
  }

  /** The error to report for a failed command. */
  unavailable(error: unknown): MillraceError {
    return unavailable(this.address, error, this.#lastError);
  }

  /** Reconnects if the server has become a replica: the same name may now lead to the new master. */
  renewIfDemoted(error: unknown): void {
    if (!isReply(error) || !error.message.startsWith('READONLY') || Date.now() - this.#renewed < 1000) return;
    this.#renewed = Date.now();
    this.renew();
  }

  /** Closes the connection and makes a new one. */
  renew(): void {
    if (!this.ready) return;
    this.#ready = false;
    this.#brokenAt = performance.now();
    this.redis.stream.destroy();
  }

  close(): void {
    this.#closed = true;
    this.#observer?.closed(this);
    this.#watchdog.stop();
    this.redis.disconnect();
    // disconnect() still delivers written commands, and the server may execute them after later writes.
    (this.redis.stream as typeof this.redis.stream | undefined)?.destroy();
  }

  /**
   * Prepares a new connection: checks that the server is the master, and makes sure that no command of the previous
   * connection is executed after the commands of this one.
   */
  async #prepare(): Promise<void> {
    const { stream } = this.redis;
    try {
      await this.#master?.confirm(this.remote);
      await this.#fence?.raise(this.redis);
    } catch (error) {
      if (this.redis.stream !== stream) return;
      if (!isRefused(error)) {
        stream.destroy(error as Error);
        return;
      }
      if (!this.#warned) this.#warn?.(unfenced(this.address, error));
      this.#warned = true;
    }
    if (this.redis.stream !== stream || this.redis.status !== 'ready') return;
    this.#ready = true;
    this.#lastError = undefined;
    this.#observer?.ready(this);
    for (const listener of this.#listeners) listener();
    this.redis.emit(READY);
  }

  /**
   * Restarts a client that ended without `close`. ioredis ends for good if a failover is announced while it asks a Sentinel
   * for the master.
   */
  #startAgain(): void {
    if (this.#closed) return;
    const again = (): void => {
      if (!this.#closed && this.redis.status === 'end') this.start();
    };
    setTimeout(again, Math.min(50, this.#limits.longestPause)).unref();
  }

  #crowded(): Error {
    const crowded = new CrowdedError(this.#watchdog.count);
    // If the server has been silent for a while, the silence is the reason for the long queue.
    return this.#watchdog.isSilent ? this.unavailable(new Error(crowded.message)) : crowded;
  }

  /** Call as soon as the connection is known to be lost. Calling it again has no effect. */
  protected broke(): void {
    if (!this.#ready) return; // it was never ready, or `renew` closed it
    this.#ready = false;
    this.#brokenAt = performance.now();
    if (this.#closed) return;
    this.#observer?.lost(this, this.address, () =>
      this.#lastError === undefined
        ? 'the server closed the connection'
        : reasonFor(this.#lastError, this.#lastError),
    );
  }

  /** An idle connection must also detect a hanging server: when it continues, another server may be the master. */
  #checkIdle(): void {
    if (this.#master !== undefined && this.ready) this.ping().catch(() => undefined);
  }
}

/** Resolves at the next change of the connection's status, or after a while. */
async function changeOf(redis: Redis, milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const events = [READY, 'close', 'end', 'error'] as const;
    const done = (): void => {
      clearTimeout(timer);
      for (const event of events) redis.off(event, done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(1, milliseconds));
    for (const event of events) redis.once(event, done);
  });
}
