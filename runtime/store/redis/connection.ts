import { Redis, type RedisOptions } from 'ioredis';
import { MillraceError } from '../../api/errors.js';
import {
  CrowdedError,
  isHopeless,
  isRefused,
  isReply,
  LoadingError,
  NoReplyError,
  reasonFor,
  remedyFor,
  unavailable,
} from './failure.js';
import type { ConnectionLimits } from '../../settings/redis-limits.js';
import { GarbledReplyError } from './reply-reader.js';
import { addressText } from './masters.js';
import type { MasterAddress } from '../../settings/redis-address.js';
import type { RedisObserver } from '../../settings/redis-observer.js';
import { nodeOptions, sentinelOptions } from './node-options.js';
import { SentinelMaster } from './sentinel-master.js';
import type { RedisAccess, Topology } from '../../settings/redis-target.js';
import { WriteFence } from './write-fence.js';

/** How often the watchdog looks at a connection within the shorter of its time-outs. */
const TICKS = 4;
/** A read waits this long for a new connection when its own breaks, in milliseconds; its deadline may end it before. */
const RECOVERY = 500;
/** Longest pause before the next attempt where the server takes connections and breaks them, in milliseconds. */
const LONGEST_BREAK = 50;
/** Emitted on the ioredis client, beside its own events, once the connection may be used. */
const READY = 'millrace:ready';

/** What a connection is for, and where it goes. */
export interface ConnectionTarget {
  readonly place: MasterAddress | Extract<Topology, { kind: 'sentinel' }>;
  readonly purpose: 'read' | 'write' | 'feast';
  readonly access: RedisAccess;
  readonly limits: ConnectionLimits;
}

/**
 * One connection to a Redis server. Nothing waits in a queue for a server that is not there, nothing is sent twice, and
 * a server that stops answering costs bounded time and memory: the connection is then given up as a whole, since that
 * alone empties ioredis's queue of commands, and is made anew.
 */
export class RedisConnection {
  readonly redis: Redis;
  /** `host:port`, for messages; never the password. */
  readonly address: string;
  readonly #limits: ConnectionLimits;
  readonly #warn: ((message: string) => void) | undefined;
  readonly #observer: RedisObserver | undefined;
  /** Undefined for reads: one that is answered late does no harm. */
  readonly #fence: WriteFence | undefined;
  /** Undefined where the address is known. */
  readonly #master: SentinelMaster | undefined;
  readonly #listeners: (() => void)[] = [];
  #ready = false;
  #warned = false;
  #count = 0;
  #bytes = 0;
  /** What waits for replies, the oldest first: the tick in which each was sent. */
  readonly #pending = new Set<{ readonly sent: number }>();
  #heard = false;
  #ticks = 0;
  #silentTicks = 0;
  /** Since the handshake began, or the server last said that it is loading its data. */
  #handshakeTicks = 0;
  /** By `performance.now()`: when the last connection that was ready broke. */
  #brokenAt = -Infinity;
  #recovery: Promise<boolean> | undefined;
  #watchdog: NodeJS.Timeout | undefined;
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
    this.#fence = purpose === 'write' ? new WriteFence() : undefined;
    let way: RedisOptions;
    if ('sentinels' in place) {
      this.#master = new SentinelMaster(place, access, limits);
      way = sentinelOptions(place, this.#master, access, limits);
    } else way = { host: place.host, port: place.port };
    this.redis = new Redis({
      ...nodeOptions(access, limits, purpose),
      ...way,
      // A connection that broke alone is made anew at once; pauses grow long only where the server is gone.
      retryStrategy: (attempt) => {
        if (attempt === 1) return 1;
        const longest = isGone(this.#lastError) ? limits.longestPause : LONGEST_BREAK;
        return Math.min(25 * 2 ** Math.min(attempt - 2, 10), longest, limits.longestPause);
      },
    });
    this.#noteLoading();
    this.redis.on('error', (error: Error) => (this.#lastError = error));
    this.redis.on('connect', () => this.#watch());
    this.redis.on('ready', () => void this.#prepare());
    this.redis.on('close', () => this.broke());
    this.redis.on('end', () => this.#startAgain());
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** The server that it goes to; undefined while there is no connection. */
  get remote(): MasterAddress | undefined {
    const { stream } = this.redis;
    if (!('remoteAddress' in stream)) return undefined;
    const { remoteAddress: host, remotePort: port } = stream;
    return host === undefined || port === undefined ? undefined : { host, port };
  }

  /** Calls back each time that the connection is ready. */
  onReady(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Commands that wait for their replies. */
  get owed(): number {
    return this.#count;
  }

  /** Starts to connect, and goes on until it is closed. */
  start(): void {
    this.redis.connect().catch((error: unknown) => (this.#lastError ??= error as Error));
  }

  /**
   * Waits for the first connection; a server that is still starting gets its time.
   * @throws MillraceError store_unavailable with the address, the reason and the remedy
   */
  async open(): Promise<void> {
    this.start();
    if (await this.becomesReady(this.#limits.openWithin)) return;
    const reason = reasonFor(this.#lastError, this.#lastError);
    this.close();
    throw new MillraceError(
      'store_unavailable',
      `Redis at ${this.address} cannot be used: ${reason}. ${remedyFor(reason, this.#master !== undefined)}`,
      { cause: this.#lastError },
    );
  }

  /** Whether the connection stands within so many milliseconds; false early if it never will. */
  async becomesReady(milliseconds: number): Promise<boolean> {
    const until = Date.now() + milliseconds;
    while (!this.ready) {
      if (this.#closed || isHopeless(this.#lastError) || Date.now() >= until) return false;
      await changeOf(this.redis, Math.min(100, until - Date.now()));
    }
    return true;
  }

  /**
   * Runs commands and waits for their replies.
   * @param count keys or records of the commands, for the bound on what is in flight
   * @param bytes of the values that are sent, likewise
   * @throws MillraceError store_unavailable before anything is sent, if the connection is down or too much is in
   *   flight; whatever `send` throws
   */
  async run<T>(count: number, bytes: number, send: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.unavailable(new Error('the store is closed'));
    if (!this.ready) throw this.unavailable(this.#lastError);
    if (this.#count > 0) this.#checkRoom(count, bytes);
    else this.#silentTicks = 0;
    this.#count += count;
    this.#bytes += bytes;
    const pending = { sent: this.#ticks };
    this.#pending.add(pending);
    try {
      return await send(this.redis);
    } finally {
      this.#pending.delete(pending);
      this.#count -= count;
      this.#bytes -= bytes;
    }
  }

  /**
   * Runs a read, and runs it once more if the connection breaks under it; waits before either where the connection has just
   * broken and another is there soon. Reads have no effect that could happen twice. A server that is silent or refuses
   * connections is not waited for.
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

  /** Whether a connection that broke just now is made anew in time. */
  #recovers(): Promise<boolean> {
    this.#recovery ??= this.#awaitRecovery().finally(() => (this.#recovery = undefined));
    return this.#recovery;
  }

  async #awaitRecovery(): Promise<boolean> {
    // What a stream emits as it breaks comes in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.ready) {
      const left = this.#brokenAt + RECOVERY - performance.now();
      if (this.#closed || left <= 0 || isGone(this.#lastError)) return false;
      await changeOf(this.redis, Math.min(50, left));
    }
    return true;
  }

  /** @throws whatever `run` and the server throw */
  async ping(): Promise<void> {
    await this.run(1, 0, (redis) => redis.ping());
  }

  /** What is to be told of a failed command; an answer that only a new connection can change brings that about. */
  unavailable(error: unknown): MillraceError {
    return unavailable(this.address, error, this.#lastError);
  }

  /** A server that became a replica: another is master now, and may be found at the same name. */
  renewIfDemoted(error: unknown): void {
    if (!isReply(error) || !error.message.startsWith('READONLY') || Date.now() - this.#renewed < 1000) return;
    this.#renewed = Date.now();
    this.renew();
  }

  /** Gives the connection up and makes another. */
  renew(): void {
    if (!this.ready) return;
    this.#ready = false;
    this.#brokenAt = performance.now();
    this.redis.stream.destroy();
  }

  close(): void {
    this.#closed = true;
    this.#observer?.closed(this);
    clearInterval(this.#watchdog);
    this.redis.disconnect();
    // disconnect() lets what is written yet reach the server, which may then do it long after later writes.
    (this.redis.stream as typeof this.redis.stream | undefined)?.destroy();
  }

  /**
   * On a connection that has just been made: sees to it that it goes to the master, and that nothing of the one before
   * comes after what it sends.
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
   * ioredis gives up for good if it is told of a failover in the moment in which it asks a Sentinel for the master; and
   * where it is not to be closed, it is not to end.
   */
  #startAgain(): void {
    if (this.#closed) return;
    const again = (): void => {
      if (!this.#closed && this.redis.status === 'end') this.start();
    };
    setTimeout(again, Math.min(50, this.#limits.longestPause)).unref();
  }

  #checkRoom(count: number, bytes: number): void {
    const { inFlight, inFlightBytes } = this.#limits;
    if (this.#count + count <= inFlight && this.#bytes + bytes <= inFlightBytes) return;
    // If the server has said nothing for a while, that is why so much waits.
    const crowded = new CrowdedError(this.#count);
    throw this.#silentTicks === 0 ? crowded : this.unavailable(new Error(crowded.message));
  }

  /** Call as soon as the connection is known to be lost; again does no harm. */
  protected broke(): void {
    if (!this.#ready) return; // never was, or is renewed
    this.#ready = false;
    this.#brokenAt = performance.now();
    if (this.#closed) return;
    this.#observer?.lost(this, this.address, () =>
      this.#lastError === undefined
        ? 'the server closed the connection'
        : reasonFor(this.#lastError, this.#lastError),
    );
  }

  /** ioredis asks a server that loads its data again and again, and tells nobody. */
  #noteLoading(): void {
    type Answered = (error: Error | null | undefined, text?: string) => void;
    const info = this.redis.info.bind(this.redis) as (what?: string | Answered) => Promise<string>;
    const noted = (what?: string | Answered): Promise<string> =>
      typeof what !== 'function'
        ? info(what)
        : info((error, text) => {
            this.#handshakeTicks = 0;
            this.#handshakeTicks = 0;
            if (text?.includes('\r\nloading:1') === true) this.#lastError = new LoadingError();
            what(error, text);
          });
    this.redis.info = noted as typeof this.redis.info;
  }

  /** Watches for a server that owes a reply (the handshake's ones too) and says nothing. */
  #watch(): void {
    this.#heard = true;
    this.#silentTicks = 0;
    this.#handshakeTicks = 0;
    this.redis.stream.on('data', () => (this.#heard = true));
    // Ticks, not the clock: if this process was held up itself, what came meanwhile is read before the next tick.
    this.#watchdog ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  get #tickMs(): number {
    return Math.min(this.#limits.socketTimeout, this.#limits.commandTimeout) / TICKS;
  }

  /** How many ticks a time-out has: one more than fit, since the first may come early. */
  #ticksOf(timeout: number): number {
    return Math.ceil(timeout / this.#tickMs) + 1;
  }

  #tick(): void {
    const { status } = this.redis;
    const { connectTimeout, socketTimeout, commandTimeout } = this.#limits;
    this.#ticks++;
    // An idle connection must notice too that its server hangs: another may be master by the time that it goes on.
    if (this.#master !== undefined && this.ready && this.#count === 0 && !this.#heard)
      this.ping().catch(() => undefined);
    const isShaking = status === 'connect' || (status === 'ready' && !this.#ready);
    const owes = this.#count > 0 || isShaking;
    this.#handshakeTicks = isShaking ? this.#handshakeTicks + 1 : 0;
    this.#silentTicks = this.#heard || !owes ? 0 : this.#silentTicks + 1;
    this.#heard = false;
    const [oldest] = this.#pending;
    const isLate = oldest !== undefined && this.#ticks - oldest.sent >= this.#ticksOf(commandTimeout);
    // A server may answer a handshake so slowly that it is never silent.
    const isStuck = this.#handshakeTicks >= this.#ticksOf(connectTimeout + socketTimeout);
    if (isLate || isStuck || this.#silentTicks >= this.#ticksOf(socketTimeout)) this.#giveUp();
  }

  /** Destroys the socket: what waits for a reply is rejected, and what is not sent yet never will be. */
  #giveUp(): void {
    this.#silentTicks = 0;
    this.redis.stream.destroy(new NoReplyError());
  }
}

/** Whether a server does not take connections, or takes them and is silent. */
function isGone(lastError: Error | undefined): boolean {
  if (lastError === undefined) return false;
  const { code } = lastError as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || lastError instanceof NoReplyError || lastError instanceof LoadingError;
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

function unfenced(address: string, error: Error): string {
  return (
    `Redis at ${address} does not let this user close a client of its own (${error.message}): an upload that was given ` +
    'up may then be done after a later one. Give the user +client|info and +client|kill'
  );
}
