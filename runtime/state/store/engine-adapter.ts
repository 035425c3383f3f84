import { MillraceError } from '../../ground/api/errors.js';
import { abortable } from '../../ground/core/abortable.js';
import type { EngineStore } from '../../ground/api/store-engine.js';
import { mergeSegment, recordForgetTime } from './codec/feature-record.js';
import type { RecordBatch } from './codec/record-batch.js';
import { expiryOf } from './codec/versioned-record.js';
import { isStored } from './compare-records.js';
import { isFeatureKey, isVersionedKey } from './keys.js';
import { recordKeysOf, recordsOfMarks, remembers, swapUnmarked } from './marks.js';
import {
  CursorError,
  StoreWriteError,
  type Erasure,
  type Abortable,
  type KeyPage,
  type MarkedIds,
  type Marks,
  type RecordSwap,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from './store.js';

/** The methods that an engine must have. */
const METHODS = [
  'read',
  'write',
  'remove',
  'update',
  'scan',
  'ping',
  'close',
] as const satisfies readonly (keyof EngineStore)[];

/** The methods that an opened engine lacks. */
export function engineFaults(opened: unknown): string[] {
  const given = (typeof opened === 'object' && opened !== null ? opened : {}) as Readonly<
    Record<string, unknown>
  >;
  return METHODS.filter((name) => typeof given[name] !== 'function').map((name) => `\`${name}\``);
}

/**
 * Makes the store of Millrace from the engine of a package. Engines know nothing of expiry: an expired record counts as
 * missing here, and is removed when it is read.
 */
export class EngineAdapter implements Store {
  #closed = false;

  /** @param now the time by which records expire */
  constructor(
    private readonly engine: EngineStore,
    private readonly now: () => number = Date.now,
  ) {}

  async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    const found = await this.#answer(() => this.engine.read(keys, signal), signal);
    if ((found as typeof found | undefined)?.length !== keys.length)
      throw unavailable(new Error(`the engine answered ${keys.length} keys with other values`));
    return found.map((value, i) => this.#current(keys[i] ?? '', value));
  }

  async readInto(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    deadline?: Abortable,
  ): Promise<void> {
    const found = await this.read(keys, deadline?.signal);
    for (const [i, record] of found.entries()) batch.put(first + i, record, 0, record?.length ?? 0);
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    await this.#open(() => this.engine.write(records)).catch((error: unknown) => {
      throw new StoreWriteError(
        messageOf(error),
        records.map(() => false),
        'store_unavailable',
        { cause: error },
      );
    });
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.#open(() => this.engine.remove(keys)).catch((error: unknown) => {
      throw new StoreWriteError(
        messageOf(error),
        keys.map(() => false),
        'store_unavailable',
        { cause: error },
      );
    });
  }

  mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    return this.#each(segments, ({ segment, replaces }, before) => {
      const { record, outcome } = mergeSegment(before, segment, this.now(), replaces);
      return { after: outcome === 'changed' ? undefined : record, outcome };
    });
  }

  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return swapUnmarked(swaps, this, (free) =>
      this.#each(free, (swap, before) =>
        isStored(before, swap)
          ? { after: swap.after, outcome: 'stored' }
          : { after: undefined, outcome: 'changed' },
      ),
    );
  }

  mark(marks: readonly Marks[]): Promise<void> {
    return this.write(recordsOfMarks(marks));
  }

  async marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    const now = this.now();
    const keys = sets.map(recordKeysOf);
    const found = await this.read(keys.flat());
    let at = 0;
    return keys.map((its) => its.map(() => remembers(found[at++], now)));
  }

  async sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.scan(start, cursor, most);
      found.push(...page.keys);
      ({ cursor } = page);
    } while (cursor !== undefined && found.length < most && !signal.aborted);
    return found.slice(0, most);
  }

  async scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    const own = cursor?.startsWith(`${start}\n`) === true ? cursor.slice(start.length + 1) : undefined;
    if (cursor !== undefined && own === undefined) throw new CursorError('the cursor is of another scan');
    const { keys, cursor: next } = await this.#answer(() => this.engine.scan(start, own, count));
    return { keys, cursor: next === undefined ? undefined : `${start}\n${next}` };
  }

  async erase(): Promise<Erasure> {
    if (this.engine.erase === undefined) return { files: 'server', copies: [] };
    await this.#answer(() => this.engine.erase?.() ?? Promise.resolve());
    return { files: 'rewritten', copies: [] };
  }

  async ping(): Promise<void> {
    await this.#answer(() => this.engine.ping());
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.engine.close();
  }

  /** Changes each key by itself. A failed change does not stop the others. */
  async #each<T extends { readonly key: string }, O>(
    items: readonly T[],
    change: (item: T, before: Buffer | null) => { readonly after: Buffer | undefined; readonly outcome: O },
  ): Promise<O[]> {
    const outcomes: O[] = [];
    const confirmed: boolean[] = [];
    let failure: unknown;
    // In order: two changes of one batch may be of one key.
    for (const [index, item] of items.entries()) {
      confirmed[index] = await this.#open(() =>
        this.engine.update(item.key, (before) => {
          const { after, outcome } = change(
            item,
            before === null || this.#isExpired(item.key, before) ? null : bufferOf(before),
          );
          outcomes[index] = outcome;
          return after;
        }),
      ).then(
        () => true,
        (error: unknown) => {
          failure ??= error;
          return false;
        },
      );
    }
    if (!confirmed.includes(false)) return outcomes;
    throw new StoreWriteError(messageOf(failure), confirmed, 'store_unavailable', { cause: failure });
  }

  /** A record that has not expired. */
  #current(key: string, value: Uint8Array | null): Buffer | null {
    if (value === null) return null;
    if (!this.#isExpired(key, value)) return bufferOf(value);
    void this.#open(() =>
      this.engine.update(key, (found) => (this.#isExpired(key, found) ? null : undefined)),
    ).catch(() => undefined); // the next read tries again
    return null;
  }

  /** Whether a record is missing, or may be forgotten. */
  #isExpired(key: string, value: Uint8Array | null): boolean {
    if (value === null) return true;
    if (isVersionedKey(key)) return expiryOf(bufferOf(value)) <= this.now();
    return isFeatureKey(key) && recordForgetTime(bufferOf(value)) <= this.now();
  }

  async #open<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('it is closed');
    return ask();
  }

  /** @throws MillraceError store_unavailable; the reason of the signal when it is aborted */
  async #answer<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const asked = this.#open(ask).catch((error: unknown) => {
      throw error instanceof MillraceError || signal?.aborted === true ? error : unavailable(error);
    });
    // The engine may not know the signal.
    return signal === undefined ? asked : abortable(asked, signal);
  }
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function unavailable(error: unknown): MillraceError {
  return new MillraceError('store_unavailable', messageOf(error), { cause: error });
}

function messageOf(error: unknown): string {
  return `the store engine failed: ${error instanceof Error ? error.message : String(error)}`;
}
