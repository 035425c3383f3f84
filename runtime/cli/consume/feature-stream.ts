import { Redis } from 'ioredis';
import type { StreamEntry } from './entry.js';

/**
 * The connection is closed if the server is silent for this long while a reply is in flight, milliseconds. It is much
 * longer than the wait of `next`.
 */
const SILENCE_MS = 10_000;

/** Maximum number of rejected entries that are kept. */
const KEPT_REJECTED = 100_000;

export interface StreamPlace {
  /** redis:// or rediss:// address of the server that contains the stream. */
  readonly url: string;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  /** The stream for rejected entries. */
  readonly rejected: string;
  /** Maximum silence while a reply is in flight, in milliseconds. */
  readonly silenceMs?: number;
}

/** A rejected entry and the reason. */
export interface RejectedEntry {
  readonly entry: StreamEntry;
  readonly reason: string;
}

/** A Redis stream, read as a consumer group (Redis 6.2 or later). Every method rejects while the server is down. */
export class FeatureStream {
  readonly #place: StreamPlace;
  readonly #redis: Redis;

  constructor(place: StreamPlace) {
    this.#place = place;
    this.#redis = new Redis(place.url, {
      connectionName: 'millrace-consume',
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      lazyConnect: true,
      // A network failure may leave the connection open without any data.
      socketTimeout: place.silenceMs ?? SILENCE_MS,
      keepAlive: 10_000,
      // The consumer itself reconnects, with pauses.
      retryStrategy: () => null,
    });
    // Each command reports its own error. Without a listener the process would end.
    this.#redis.on('error', () => undefined);
  }

  /** Connects, and creates the group if it does not exist. A new group starts at the first entry of the stream. */
  async open(): Promise<void> {
    if (this.#redis.status !== 'ready') await this.#redis.connect();
    const { stream, group } = this.#place;
    try {
      await this.#redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
    }
  }

  /** Reads entries that were not delivered yet. Waits for entries for up to `wait` milliseconds. */
  async next(count: number, wait: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const read = await this.#redis.xreadgroup(
      ...(['GROUP', group, consumer, 'COUNT', count, 'BLOCK', wait, 'STREAMS', stream, '>'] as const),
    );
    return entriesOf(read);
  }

  /** Reads entries that were delivered to this consumer but not acknowledged, oldest first. */
  async pending(count: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const read = await this.#redis.xreadgroup(
      ...(['GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, '0'] as const),
    );
    return entriesOf(read);
  }

  /** Claims entries that were delivered to another consumer at least `idle` milliseconds ago and not acknowledged. */
  async claim(count: number, idle: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const claimed = await this.#redis.xautoclaim(stream, group, consumer, idle, '0', 'COUNT', count);
    return (claimed[1] as readonly (StreamEntry | null)[]).filter((entry) => entry !== null);
  }

  /** Acknowledges entries. Adds the rejected ones to the other stream in the same transaction. */
  async settle(stored: readonly StreamEntry[], rejected: readonly RejectedEntry[]): Promise<void> {
    const { stream, group, rejected: other } = this.#place;
    const multi = this.#redis.multi();
    for (const { entry, reason } of rejected) {
      const fields = [...(entry[1] ?? []), 'rejected_id', entry[0], 'reason', reason];
      multi.xadd(other, 'MAXLEN', '~', KEPT_REJECTED, '*', ...fields);
    }
    const ids = [...stored, ...rejected.map(({ entry }) => entry)].map(([id]) => id);
    if (ids.length > 0) multi.xack(stream, group, ...ids);
    const failed = (await multi.exec())?.find(([error]) => error !== null);
    if (failed?.[0]) throw failed[0];
  }

  /** Returns the number of undelivered entries, if the server knows it (Redis 7), and of unacknowledged entries. */
  async backlog(): Promise<{ readonly lag: number | null; readonly pending: number }> {
    const groups = (await this.#redis.xinfo('GROUPS', this.#place.stream)) as readonly (readonly unknown[])[];
    for (const group of groups) {
      const of = (name: string): unknown => group[group.indexOf(name) + 1];
      if (of('name') !== this.#place.group) continue;
      const lag = group.includes('lag') ? of('lag') : null;
      return { lag: typeof lag === 'number' ? lag : null, pending: Number(of('pending')) };
    }
    return { lag: null, pending: 0 };
  }

  close(): void {
    this.#redis.disconnect();
  }
}

/** Extracts the entries of the requested stream. The reply is null if no entry arrived in time. */
function entriesOf(reply: unknown): readonly StreamEntry[] {
  const [first] = (reply ?? []) as readonly (readonly [string, readonly StreamEntry[]])[];
  return first?.[1] ?? [];
}
