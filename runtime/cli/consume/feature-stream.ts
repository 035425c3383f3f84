import { Redis } from 'ioredis';
import type { StreamEntry } from './entry.js';

/** Silence of a server that owes a reply, after which the connection is given up; far longer than `next` waits, milliseconds. */
const SILENCE_MS = 10_000;

/** Entries that are kept of those that could not be stored. */
const KEPT_REJECTED = 100_000;

export interface StreamPlace {
  /** redis:// or rediss:// address of the server that holds the stream. */
  readonly url: string;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  /** The stream that takes what cannot be stored. */
  readonly rejected: string;
  /** How long the server may owe a reply, milliseconds. */
  readonly silenceMs?: number;
}

/** An entry that cannot be stored, and why. */
export interface RejectedEntry {
  readonly entry: StreamEntry;
  readonly reason: string;
}

/** A Redis stream, read as a consumer group (Redis 6.2 or later). Every method rejects while the server is away. */
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
      // A cable that was pulled closes nothing.
      socketTimeout: place.silenceMs ?? SILENCE_MS,
      keepAlive: 10_000,
      // The consumer tries again by itself, with pauses.
      retryStrategy: () => null,
    });
    // Each command tells of what went wrong; without a listener the process would end.
    this.#redis.on('error', () => undefined);
  }

  /** Connects, and makes the group unless it is there; a new one begins with the stream's first entry. */
  async open(): Promise<void> {
    if (this.#redis.status !== 'ready') await this.#redis.connect();
    const { stream, group } = this.#place;
    try {
      await this.#redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
    }
  }

  /** Entries that nobody has had yet; waits for some up to `wait` milliseconds. */
  async next(count: number, wait: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const read = await this.#redis.xreadgroup(
      ...(['GROUP', group, consumer, 'COUNT', count, 'BLOCK', wait, 'STREAMS', stream, '>'] as const),
    );
    return entriesOf(read);
  }

  /** Entries that this consumer has had before and not acknowledged, oldest first. */
  async pending(count: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const read = await this.#redis.xreadgroup(
      ...(['GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, '0'] as const),
    );
    return entriesOf(read);
  }

  /** Takes over entries that another consumer has had for `idle` milliseconds and not acknowledged. */
  async claim(count: number, idle: number): Promise<readonly StreamEntry[]> {
    const { group, consumer, stream } = this.#place;
    const claimed = await this.#redis.xautoclaim(stream, group, consumer, idle, '0', 'COUNT', count);
    return (claimed[1] as readonly (StreamEntry | null)[]).filter((entry) => entry !== null);
  }

  /** Acknowledges what is stored; what is not goes to the other stream in the same transaction. */
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

  /** Entries that the group has not had, where the server knows (Redis 7), and those that are not acknowledged. */
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

/** The reply names the one stream that was asked for; it is null where nothing came in time. */
function entriesOf(reply: unknown): readonly StreamEntry[] {
  const [first] = (reply ?? []) as readonly (readonly [string, readonly StreamEntry[]])[];
  return first?.[1] ?? [];
}
