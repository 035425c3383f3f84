import type { Redis } from 'ioredis';
import type { Changes } from '../coherence.js';
import { DatabaseMarker } from './database-marker.js';
import { isRefused } from './failure.js';

/** The channel on which RESP2 connections receive invalidated keys. */
const CHANNEL = '__redis__:invalidate';
/** A link that is silent for this many leases, and at least this many milliseconds, is replaced. */
const PATIENCE = 5;
const LEAST_PATIENCE = 500;

/** How a link detects that SWAPDB replaced the selected database. */
export interface MarkerLink {
  /**
   * A second connection, because a connection in subscriber mode cannot read keys. It is not connected yet. The link owns
   * it from now on.
   */
  readonly redis: Redis;
  readonly key: string;
  /** Called once if the server does not let this user read or write the key. */
  readonly refused: (error: Error) => void;
}

/**
 * Receives the invalidations of one server on a separate connection. CLIENT TRACKING redirects to the connection itself,
 * and the PINGs use the same connection. Keys and PONGs therefore arrive in the server's order: a PONG means that all
 * invalidations of writes before its PING have arrived (except those of the server's current event loop turn). With each
 * PING, a second connection reads the marker of the database. If either connection is lost, the link is lost.
 *
 * Source: https://redis.io/docs/latest/develop/reference/client-side-caching/
 */
export class TrackingLink {
  readonly #redis: Redis;
  readonly #markerLink: MarkerLink | undefined;
  readonly #marker: DatabaseMarker | undefined;
  readonly #changes: Changes;
  readonly #leaseMs: number;
  readonly #lost: (refusal?: Error) => void;
  /** When the last answered PING was sent; -Infinity before the link is armed and after it is lost. */
  #toldUntil = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #armed = false;
  /** The renewal in flight, and when it was sent. */
  #renewal: { readonly sent: number; readonly told: Promise<boolean> } | undefined;
  /** Whether the last renewal got no answer in time. */
  #isSilent = false;
  #closed = false;

  /**
   * @param connections not connected yet; the link owns them from now on. The marker is undefined if there is only one
   *   database
   * @param lost called once when the link is lost, with the server's error if it refused to track
   */
  constructor(
    [redis, marker]: readonly [redis: Redis, marker: MarkerLink | undefined],
    prefixes: readonly string[],
    changes: Changes,
    leaseMs: number,
    lost: (refusal?: Error) => void,
  ) {
    this.#redis = redis;
    this.#changes = changes;
    this.#leaseMs = leaseMs;
    this.#lost = lost;
    this.#markerLink = marker;
    this.#marker = marker && new DatabaseMarker(marker.redis, marker.key, marker.refused);
    for (const connection of this.#connections) {
      connection.on('error', () => undefined); // 'close' follows
      connection.once('close', () => this.#giveUp());
    }
    redis.on('messageBuffer', (_channel: Buffer, keys: unknown) => {
      this.#told(keys);
    });
    this.#arm(prefixes).catch((error: unknown) => this.#giveUp(isRefused(error) ? error : undefined));
  }

  get #connections(): readonly Redis[] {
    return this.#markerLink === undefined ? [this.#redis] : [this.#redis, this.#markerLink.redis];
  }

  get #patience(): number {
    return Math.max(LEAST_PATIENCE, PATIENCE * this.#leaseMs);
  }

  /** Whether tracking was ever enabled on this link. */
  get wasArmed(): boolean {
    return this.#armed;
  }

  /** True if the invalidations of all writes until one lease ago have arrived. */
  isCurrent(now: number): boolean {
    return now - this.#toldUntil < this.#leaseMs;
  }

  /**
   * Resolves to true if the invalidations of all writes until now have arrived. Concurrent calls share a PING. Undefined
   * if the link is not armed, or if the previous call got no answer.
   */
  renew(): Promise<boolean> | undefined {
    if (!this.#armed || this.#closed || this.#isSilent) return undefined;
    const sent = performance.now();
    if (this.#renewal === undefined || sent - this.#renewal.sent >= this.#leaseMs)
      this.#renewal = { sent, told: this.#ask(sent) };
    return this.#renewal.told;
  }

  async #ask(sent: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<void>((resolve) => {
      // Timers run before sockets are read: the answer may already be in the socket.
      timer = setTimeout(() => setImmediate(resolve), this.#leaseMs);
    });
    await Promise.race([this.#ping(sent), silence]);
    clearTimeout(timer);
    const isTold = this.#toldUntil >= sent;
    if (!isTold) this.#isSilent = true;
    return isTold;
  }

  /** Closes the link without calling `lost`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#toldUntil = -Infinity;
    for (const connection of this.#connections) connection.disconnect();
    this.#changes.flush();
  }

  async #arm(prefixes: readonly string[]): Promise<void> {
    const redis = this.#redis;
    const patience = setTimeout(() => this.#giveUp(), this.#patience);
    try {
      await Promise.all(this.#connections.map((connection) => connection.connect()));
      await this.#marker?.isSame();
      const id = await redis.client('ID');
      const options = prefixes.flatMap((prefix) => ['PREFIX', prefix]);
      await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), 'BCAST', ...options);
      await redis.subscribe(CHANNEL);
    } finally {
      clearTimeout(patience);
    }
    if (this.#closed) return;
    this.#armed = true;
    // Entries that were cached before tracking started may be stale.
    this.#changes.flush();
    const started = performance.now();
    this.#timer = setInterval(
      () => {
        const now = performance.now();
        const silence = now - Math.max(this.#toldUntil, started);
        if (silence > this.#patience) this.#giveUp();
        else void this.#ping(now);
      },
      Math.max(1, Math.floor(this.#leaseMs / 3)),
    );
    this.#timer.unref();
    await this.#ping(started);
  }

  #ping(sent: number): Promise<void> {
    return Promise.all([this.#redis.ping(), this.#marker?.isSame()]).then(
      ([, isSame]) => {
        if (this.#closed) return;
        // Reads in flight may come from either database. `flush` prevents all of them from being cached.
        if (isSame === false) this.#changes.flush();
        this.#toldUntil = Math.max(this.#toldUntil, sent);
        this.#isSilent = false;
      },
      () => this.#giveUp(),
    );
  }

  /** Handles the written keys; null means that the server was flushed. */
  #told(keys: unknown): void {
    if (Array.isArray(keys)) this.#changes.invalidate(keys.map(String));
    else this.#changes.flush();
  }

  #giveUp(refusal?: Error): void {
    if (this.#closed) return;
    this.close();
    this.#lost(refusal);
  }
}
