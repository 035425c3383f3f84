import type { Redis } from 'ioredis';
import {
  type Backlog,
  ProbeError,
  type RejectedMessage,
  type ServerProbe,
  type Source,
  type SourceMessage,
} from 'millrace/api';
import { clientOf, hostOf, type StreamServer } from './connect.js';

/** How long a read waits for entries, in milliseconds. */
const WAIT_MS = 250;

/** Maximum number of rejected entries that are kept. */
const KEPT_REJECTED = 100_000;

/**
 * The id of an entry, and its field names and values in turn. They stay bytes, because they may be no text. The fields are
 * null if the entry was deleted.
 */
type Entry = readonly [id: string, fields: readonly Buffer[] | null];

export interface StreamPlace extends StreamServer {
  readonly stream: string;
  /** The field that holds the content. */
  readonly field: string;
}

export interface StreamGroup {
  readonly group: string;
  readonly consumer: string;
  /** The stream for rejected entries. */
  readonly rejected: string;
  /** Where a new group begins: an id, `0` or `$`. */
  readonly start: string;
  /** A consumer that holds an entry for this long counts as dead. */
  readonly claimIdleMs: number;
  /** The connection is closed if the server is silent for this long while a reply is in flight. */
  readonly timeoutMs: number;
}

/**
 * A Redis stream, read as a consumer group (Redis 6.2 or later). The entries that this consumer holds come first, then
 * those of dead consumers, then new ones.
 */
export class StreamReader implements Source {
  readonly probe: ServerProbe;
  readonly #place: StreamPlace;
  readonly #group: StreamGroup;
  #client: Redis | undefined;
  /** Why the connection failed. The commands that it rejects only say that it is closed. */
  #cause: Error | undefined;
  #hasPending = true;
  #claimAt = 0;
  /** The fields of the entries of the last read, by id: a rejected entry is moved with all of them. */
  #fields = new Map<string, readonly Buffer[]>();

  constructor(place: StreamPlace, group: StreamGroup) {
    this.#place = place;
    this.#group = group;
    this.probe = { server: hostOf(place.url), ask: () => this.#ask() };
  }

  /** Connects, and creates the group if it does not exist. */
  async open(): Promise<void> {
    this.#hasPending = true;
    if (this.#client?.status !== 'ready') {
      this.#client?.disconnect();
      this.#client = this.#connectLater();
      await this.#try((client) => client.connect());
    }
    const { group, start } = this.#group;
    await this.#try(async (client) => {
      try {
        await client.xgroup('CREATE', this.#place.stream, group, start, 'MKSTREAM');
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
      }
    });
  }

  async read(most: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    let entries: readonly Entry[] = [];
    if (this.#hasPending) {
      entries = await this.#pending(most);
      this.#hasPending = entries.length > 0;
    }
    if (entries.length === 0 && Date.now() >= this.#claimAt) {
      entries = await this.#claim(most);
      if (entries.length < most) this.#claimAt = Date.now() + this.#group.claimIdleMs / 2;
    }
    if (entries.length === 0 && !signal.aborted) entries = await this.#next(most);
    this.#fields = new Map(entries.map(([id, fields]) => [id, fields ?? []]));
    return entries.map((entry) => this.#messageOf(entry));
  }

  /** Acknowledges entries. Adds the rejected ones to the other stream in the same transaction. */
  async settle(messages: readonly SourceMessage[], rejected: readonly RejectedMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { stream } = this.#place;
    if (rejected.length > 0) await this.#checkRejected();
    await this.#try(async (client) => {
      const multi = client.multi();
      for (const { message, reason } of rejected) {
        const fields: (string | Buffer)[] = [...(this.#fields.get(message.id) ?? [])];
        fields.push('rejected_id', message.id, 'reason', reason);
        multi.xadd(this.#group.rejected, 'MAXLEN', '~', KEPT_REJECTED, '*', ...fields);
      }
      multi.xack(stream, this.#group.group, ...messages.map(({ id }) => id));
      const failed = (await multi.exec())?.find(([error]) => error !== null);
      if (failed?.[0]) throw failed[0];
    });
  }

  /** The number of undelivered entries, if the server knows it (Redis 7), and of unacknowledged entries. */
  async backlog(): Promise<Backlog> {
    const groups = (await this.#try((client) =>
      client.xinfo('GROUPS', this.#place.stream),
    )) as readonly (readonly unknown[])[];
    for (const group of groups) {
      const of = (name: string): unknown => group[group.indexOf(name) + 1];
      if (of('name') !== this.#group.group) continue;
      const lag = group.includes('lag') ? of('lag') : null;
      return { lag: typeof lag === 'number' ? lag : null, pending: Number(of('pending')) };
    }
    return { lag: null, pending: 0 };
  }

  close(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  async #next(count: number): Promise<readonly Entry[]> {
    const { group, consumer } = this.#group;
    const { stream } = this.#place;
    return this.#try(async (client) =>
      entriesOf(
        await client.callBuffer(
          ...(['XREADGROUP', 'GROUP', group, consumer, 'COUNT', count] as const),
          ...(['BLOCK', WAIT_MS, 'STREAMS', stream, '>'] as const),
        ),
      ),
    );
  }

  /** Reads entries that were delivered to this consumer but not acknowledged, oldest first. */
  async #pending(count: number): Promise<readonly Entry[]> {
    const { group, consumer } = this.#group;
    const { stream } = this.#place;
    return this.#try(async (client) =>
      entriesOf(
        await client.callBuffer(
          ...(['XREADGROUP', 'GROUP', group, consumer, 'COUNT', count, 'STREAMS', stream, '0'] as const),
        ),
      ),
    );
  }

  /** Claims entries that were delivered to another consumer long ago and not acknowledged. */
  async #claim(count: number): Promise<readonly Entry[]> {
    const { group, consumer, claimIdleMs } = this.#group;
    const claimed = (await this.#try((client) =>
      client.callBuffer(
        ...(['XAUTOCLAIM', this.#place.stream, group, consumer, claimIdleMs, '0', 'COUNT', count] as const),
      ),
    )) as readonly [cursor: Buffer, entries: readonly (RawEntry | null)[]];
    return claimed[1].flatMap((entry) => (entry === null ? [] : [entryOf(entry)]));
  }

  /** Redis would acknowledge the entries even if it cannot add them to the other key, and they would be lost. */
  async #checkRejected(): Promise<void> {
    const { rejected } = this.#group;
    const type = await this.#try((client) =>
      client.type(rejected).catch((error: unknown) => {
        // A user without the right to ask may still have that to add.
        if (error instanceof Error && error.message.startsWith('NOPERM')) return 'stream';
        throw error;
      }),
    );
    if (type !== 'none' && type !== 'stream')
      throw new Error(`the key ${rejected}, for rejected entries, is a ${type}, not a stream`);
  }

  #messageOf([id, fields]: Entry): SourceMessage {
    const { stream, field } = this.#place;
    const headers: Record<string, string> = Object.create(null) as Record<string, string>;
    const names: string[] = [];
    let content: Buffer | undefined;
    for (let i = 0; i + 1 < (fields?.length ?? 0); i += 2) {
      const name = String(fields?.[i]);
      names.push(name);
      if (name === field) content = fields?.[i + 1];
      else headers[name] = String(fields?.[i + 1]);
    }
    const found = names.join(', ').slice(0, 200);
    return {
      partition: stream,
      id,
      time: Number(id.split('-')[0]),
      headers,
      content,
      // The fields of a deleted entry are null, so there is nothing to store.
      ...(content !== undefined || fields === null
        ? {}
        : { problem: `expected the field ${field}, found ${found === '' ? 'none' : found}` }),
    };
  }

  async #ask(): Promise<string> {
    const { stream } = this.#place;
    const client = this.#connectLater();
    try {
      await client.connect();
      const type = await client.type(stream);
      if (type === 'none') return `it answers and has no stream ${stream}; the source creates it`;
      if (type === 'stream') return `it answers and has the stream ${stream}`;
      throw new ProbeError(
        `the key ${stream} is a ${type}, not a stream`,
        'choose another name for `stream`',
      );
    } catch (error) {
      throw error instanceof ProbeError ? error : (this.#cause ?? error);
    } finally {
      client.disconnect();
    }
  }

  /** Each command reports its own error, which only says that the connection is closed. */
  async #try<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === undefined) throw new Error('the source is not open');
    try {
      return await command(client);
    } catch (error) {
      throw client.status === 'ready' ? error : (this.#cause ?? error);
    }
  }

  #connectLater(): Redis {
    const { timeoutMs } = this.#group;
    const client = clientOf(this.#place, {
      connectionName: 'millrace-source',
      connectTimeout: timeoutMs,
      // A network failure may leave the connection open without any data. A read waits for up to WAIT_MS.
      socketTimeout: timeoutMs + WAIT_MS,
      keepAlive: 10_000,
    });
    this.#cause = undefined;
    client.on('error', (error) => {
      this.#cause = error;
    });
    return client;
  }
}

type RawEntry = readonly [id: Buffer, fields: readonly Buffer[] | null];

function entryOf([id, fields]: RawEntry): Entry {
  return [id.toString('latin1'), fields];
}

/** Extracts the entries of the requested stream. The reply is null if no entry arrived in time. */
function entriesOf(reply: unknown): readonly Entry[] {
  const [first] = (reply ?? []) as readonly (readonly [Buffer, readonly RawEntry[]])[];
  return (first?.[1] ?? []).map(entryOf);
}
