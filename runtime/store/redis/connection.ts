import { Redis, type RedisOptions } from 'ioredis';
import { MillraceError } from '../../api/errors.js';
import {
  isHopeless,
  isRefused,
  isReply,
  NoReplyError,
  reasonFor,
  remedyFor,
  unavailable,
} from './failure.js';
import type { ConnectionLimits } from '../../settings/redis-limits.js';
import { addressText } from './masters.js';
import type { MasterAddress } from '../../settings/redis-address.js';
import { nodeOptions, sentinelOptions } from './node-options.js';
import { SentinelMaster } from './sentinel-master.js';
import type { RedisAccess, Topology } from '../../settings/redis-target.js';
import { WriteFence } from './write-fence.js';

/** Looks at a connection that a silent one survives; one more than the time-out has, as the first may come early. */
const TICKS = 5;
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
  /** Undefined for reads: one that is answered late does no harm. */
  readonly #fence: WriteFence | undefined;
  /** Undefined where the address is known. */
  readonly #master: SentinelMaster | undefined;
  readonly #listeners: (() => void)[] = [];
  #ready = false;
  #warned = false;
  #count = 0;
  #bytes = 0;
  #heard = false;
  #silentTicks = 0;
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
    this.#fence = purpose === 'write' ? new WriteFence() : undefined;
    let way: RedisOptions;
    if ('sentinels' in place) {
      this.#master = new SentinelMaster(place, access, limits);
      way = sentinelOptions(place, this.#master, access, limits);
    } else way = { host: place.host, port: place.port };
    this.redis = new Redis({
      ...nodeOptions(access, limits, purpose),
      ...way,
      retryStrategy: (attempt) => Math.min(25 * 2 ** Math.min(attempt, 10), limits.longestPause),
    });
    this.redis.on('error', (error: Error) => (this.#lastError = error));
    this.redis.on('connect', () => this.#watch());
    this.redis.on('ready', () => void this.#prepare());
    this.redis.on('close', () => (this.#ready = false));
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
    const late = setTimeout(() => this.#giveUp(), this.#limits.commandTimeout);
    try {
      return await send(this.redis);
    } finally {
      clearTimeout(late);
      this.#count -= count;
      this.#bytes -= bytes;
    }
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
    this.redis.stream.destroy();
  }

  close(): void {
    this.#closed = true;
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
    throw this.unavailable(new Error(`${this.#count} keys wait for their replies already`));
  }

  /** Watches for a server that owes a reply (the handshake's ones too) and says nothing. */
  #watch(): void {
    this.#heard = true;
    this.#silentTicks = 0;
    this.redis.stream.on('data', () => (this.#heard = true));
    // Ticks, not the clock: if this process was held up itself, what came meanwhile is read before the next tick.
    this.#watchdog ??= setInterval(() => this.#tick(), this.#limits.socketTimeout / (TICKS - 1)).unref();
  }

  #tick(): void {
    const { status } = this.redis;
    // An idle connection must notice too that its server hangs: another may be master by the time that it goes on.
    if (this.#master !== undefined && this.ready && this.#count === 0 && !this.#heard)
      this.ping().catch(() => undefined);
    const owes = this.#count > 0 || status === 'connect' || (status === 'ready' && !this.#ready);
    this.#silentTicks = this.#heard || !owes ? 0 : this.#silentTicks + 1;
    this.#heard = false;
    if (this.#silentTicks >= TICKS) this.#giveUp();
  }

  /** Destroys the socket: what waits for a reply is rejected, and what is not sent yet never will be. */
  #giveUp(): void {
    this.#silentTicks = 0;
    this.redis.stream.destroy(new NoReplyError());
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

function unfenced(address: string, error: Error): string {
  return (
    `Redis at ${address} does not let this user close a client of its own (${error.message}): an upload that was given ` +
    'up may then be done after a later one. Give the user +client|info and +client|kill'
  );
}
