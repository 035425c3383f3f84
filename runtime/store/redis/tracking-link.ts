import type { Redis } from 'ioredis';
import type { Changes } from '../coherence.js';
import { DatabaseMarker } from './database-marker.js';
import { isRefused } from './failure.js';

/** The channel on which RESP2 connections are told of keys. */
const CHANNEL = '__redis__:invalidate';
/** A link that is silent for this many leases, and at least so many milliseconds, is given up for a new one. */
const PATIENCE = 5;
const LEAST_PATIENCE = 500;

/** How a link notices that another database takes the place of the selected one. */
export interface MarkerLink {
  /** Not yet connected; the link's from now on. A connection that waits for messages cannot read keys. */
  readonly redis: Redis;
  readonly key: string;
  /** Called once if the server does not let this user read or write the key. */
  readonly refused: (error: Error) => void;
}

/**
 * One server's invalidations, on a connection of their own. CLIENT TRACKING is redirected to the connection itself, and
 * the same connection is pinged: one stream then carries keys and answers in the server's order, so that a PONG says
 * that every key written before its PING (but for the server's one turn at that moment) has been told. With each PING the
 * marker of the database is read on a second connection. The link is lost if either connection is.
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
  /** When the PING was sent whose PONG came last; -Infinity before the link is armed and after it is lost. */
  #toldUntil = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #armed = false;
  /** The question that is under way, and when it was sent. */
  #renewal: { readonly sent: number; readonly told: Promise<boolean> } | undefined;
  /** Whether the last question got no answer in time. */
  #isSilent = false;
  #closed = false;

  /**
   * @param redis not yet connected; the link's from now on
   * @param marker undefined where there is one database alone
   * @param lost called once, when the link is of no use any more; with what the server said if it refused to track
   */
  constructor(
    redis: Redis,
    marker: MarkerLink | undefined,
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

  /** Whether the server ever tracked for this link. */
  get wasArmed(): boolean {
    return this.#armed;
  }

  /** Whether all that was written until a lease ago has been told. */
  isCurrent(now: number): boolean {
    return now - this.#toldUntil < this.#leaseMs;
  }

  /**
   * Whether all that was written until now has been told; several who ask at once share a PING. Undefined for a link that
   * is not armed, or was silent when last asked.
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
      // A busy process runs its timers before it reads its sockets: the answer may be there already.
      timer = setTimeout(() => setImmediate(resolve), this.#leaseMs);
    });
    await Promise.race([this.#ping(sent), silence]);
    clearTimeout(timer);
    const isTold = this.#toldUntil >= sent;
    if (!isTold) this.#isSilent = true;
    return isTold;
  }

  /** Ends the link without calling it lost. */
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
    // What was kept before this may have been written untold.
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
        // Reads that are under way are of either database: `flush` keeps none of them.
        if (isSame === false) this.#changes.flush();
        this.#toldUntil = Math.max(this.#toldUntil, sent);
        this.#isSilent = false;
      },
      () => this.#giveUp(),
    );
  }

  /** Keys that were written; null where the server forgot everything. */
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
