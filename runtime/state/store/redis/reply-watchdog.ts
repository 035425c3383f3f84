import type { Redis } from 'ioredis';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';

/** Number of checks within the shorter time-out of a connection. */
const TICKS = 4;

/** The connection that the watchdog checks. */
interface WatchedConnection {
  /** True from the moment the socket is open until commands may be sent. */
  isInHandshake(): boolean;
  /** Called at a tick without commands in flight, if nothing arrived since the last tick. */
  checkIdle(): void;
  /** Called when the server is silent or too slow. */
  giveUp(): void;
}

/** A command that waits for its replies. */
interface SentCommand {
  readonly count: number;
  readonly bytes: number;
  /** The tick in which it was sent. */
  readonly tick: number;
}

/**
 * Counts the commands in flight of one connection, and detects a server that is silent while replies are in flight, also
 * during the handshake. It counts ticks instead of reading the clock: after a blocked event loop, the waiting replies are
 * read before the next tick.
 */
export class ReplyWatchdog {
  readonly #limits: ConnectionLimits;
  readonly #connection: WatchedConnection;
  #count = 0;
  #bytes = 0;
  /** The oldest first. */
  readonly #sent = new Set<SentCommand>();
  #heard = false;
  #ticks = 0;
  #silentTicks = 0;
  /** Ticks since the handshake began, or since its last progress. */
  #handshakeTicks = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: ConnectionLimits, connection: WatchedConnection) {
    this.#limits = limits;
    this.#connection = connection;
  }

  /** Number of keys or records in flight. */
  get count(): number {
    return this.#count;
  }

  /** True if replies are in flight and nothing has arrived for a while. */
  get isSilent(): boolean {
    return this.#silentTicks > 0;
  }

  /** Watches a new socket of the connection. */
  watch(stream: Redis['stream']): void {
    this.#heard = true;
    this.#silentTicks = 0;
    this.#handshakeTicks = 0;
    stream.on('data', () => (this.#heard = true));
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The handshake has made progress, so its time starts again. */
  noteProgress(): void {
    this.#handshakeTicks = 0;
  }

  /** Whether the limits allow another command; a command of any size may be sent if nothing is in flight. */
  hasRoom(count: number, bytes: number): boolean {
    const { inFlight, inFlightBytes } = this.#limits;
    return this.#count === 0 || (this.#count + count <= inFlight && this.#bytes + bytes <= inFlightBytes);
  }

  /** Call it when a command is sent; pass the result to `end` when its replies have arrived or cannot arrive. */
  begin(count: number, bytes: number): SentCommand {
    if (this.#count === 0) this.#silentTicks = 0;
    this.#count += count;
    this.#bytes += bytes;
    const sent = { count, bytes, tick: this.#ticks };
    this.#sent.add(sent);
    return sent;
  }

  end(sent: SentCommand): void {
    this.#sent.delete(sent);
    this.#count -= sent.count;
    this.#bytes -= sent.bytes;
  }

  get #tickMs(): number {
    return Math.min(this.#limits.socketTimeout, this.#limits.commandTimeout) / TICKS;
  }

  /** Ticks of a time-out; one extra, because the first tick may come early. */
  #ticksOf(timeout: number): number {
    return Math.ceil(timeout / this.#tickMs) + 1;
  }

  #tick(): void {
    const { connectTimeout, socketTimeout, commandTimeout } = this.#limits;
    this.#ticks++;
    if (this.#count === 0 && !this.#heard) this.#connection.checkIdle();
    const isInHandshake = this.#connection.isInHandshake();
    const owes = this.#count > 0 || isInHandshake;
    this.#handshakeTicks = isInHandshake ? this.#handshakeTicks + 1 : 0;
    this.#silentTicks = this.#heard || !owes ? 0 : this.#silentTicks + 1;
    this.#heard = false;
    const [oldest] = this.#sent;
    const isLate = oldest !== undefined && this.#ticks - oldest.tick >= this.#ticksOf(commandTimeout);
    // A server may answer a handshake very slowly without ever being silent.
    const isStuck = this.#handshakeTicks >= this.#ticksOf(connectTimeout + socketTimeout);
    if (!isLate && !isStuck && this.#silentTicks < this.#ticksOf(socketTimeout)) return;
    this.#silentTicks = 0;
    this.#connection.giveUp();
  }
}
