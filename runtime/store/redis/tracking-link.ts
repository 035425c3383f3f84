import type { Redis } from 'ioredis';
import type { Changes } from '../../resident/coherence.js';

/** The channel on which RESP2 connections are told of keys. */
const CHANNEL = '__redis__:invalidate';
/** A link that is silent for this many leases is given up for a new one. */
const PATIENCE = 25;

/**
 * One server's invalidations, on a connection of their own. CLIENT TRACKING is redirected to the connection itself, and
 * the same connection is pinged: one stream then carries keys and answers in the server's order, so that a PONG says
 * that every key written before its PING (but for the server's one turn at that moment) has been told. No second
 * connection can be lost unnoticed.
 *
 * Source: https://redis.io/docs/latest/develop/reference/client-side-caching/
 */
export class TrackingLink {
  readonly #redis: Redis;
  readonly #changes: Changes;
  readonly #leaseMs: number;
  /** When the PING was sent whose PONG came last; -Infinity before the link is armed and after it is lost. */
  #toldUntil = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param redis not yet connected; the link's from now on
   * @param lost called once, when the link is of no use any more
   */
  constructor(
    redis: Redis,
    prefixes: readonly string[],
    changes: Changes,
    leaseMs: number,
    lost: () => void,
  ) {
    this.#redis = redis;
    this.#changes = changes;
    this.#leaseMs = leaseMs;
    redis.on('error', () => undefined); // 'close' follows
    redis.once('close', () => {
      this.#end();
      lost();
    });
    redis.on('messageBuffer', (_channel: Buffer, keys: unknown) => {
      this.#told(keys);
    });
    this.#arm(prefixes).catch(() => redis.disconnect());
  }

  /** Whether all that was written until a lease ago has been told. */
  isCurrent(now: number): boolean {
    return now - this.#toldUntil < this.#leaseMs;
  }

  close(): void {
    this.#end();
    this.#redis.disconnect();
  }

  async #arm(prefixes: readonly string[]): Promise<void> {
    const redis = this.#redis;
    const armed = setTimeout(() => redis.disconnect(), Math.max(1000, PATIENCE * this.#leaseMs));
    try {
      await redis.connect();
      const id = await redis.client('ID');
      const options = prefixes.flatMap((prefix) => ['PREFIX', prefix]);
      await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), 'BCAST', ...options);
      await redis.subscribe(CHANNEL);
    } finally {
      clearTimeout(armed);
    }
    if (this.#closed) return;
    // What was kept before this may have been written untold.
    this.#changes.flush();
    const started = performance.now();
    this.#timer = setInterval(
      () => {
        const now = performance.now();
        const silence = now - Math.max(this.#toldUntil, started);
        if (silence > PATIENCE * this.#leaseMs) redis.disconnect();
        else this.#ping(now);
      },
      Math.max(1, Math.floor(this.#leaseMs / 3)),
    );
    this.#timer.unref();
    this.#ping(started);
  }

  #ping(sent: number): void {
    this.#redis.ping().then(
      () => {
        if (!this.#closed) this.#toldUntil = Math.max(this.#toldUntil, sent);
      },
      () => this.#redis.disconnect(),
    );
  }

  /** Keys that were written; null where the server forgot everything. */
  #told(keys: unknown): void {
    if (Array.isArray(keys)) this.#changes.invalidate(keys.map(String));
    else this.#changes.flush();
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#toldUntil = -Infinity;
    this.#changes.flush();
  }
}
