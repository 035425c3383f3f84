import { mergeSegment } from '../feature-record.js';
import type { SegmentOutcome } from '../store.js';
import type { Database } from './data-folder.js';

export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly value: Buffer }
  | { readonly kind: 'remove'; readonly key: string }
  | { readonly kind: 'merge'; readonly key: string; readonly segment: Buffer };

interface Commit {
  readonly changes: readonly Change[];
  readonly resolve: (outcomes: SegmentOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Most changes of one batch to disk, unless a single commit has more. */
const BATCH_CHANGES = 4096;

/**
 * The one way to change the records. Commits that arrive while a batch is being written form the next one; the map
 * follows the disk, so that nothing can be read that a crash would take back, and both see one order of writes.
 */
export class WriteQueue {
  readonly #database: Database;
  readonly #records: Map<string, Buffer>;
  readonly #sync: boolean;
  #waiting: Commit[] = [];
  #writing: Promise<void> | undefined;

  constructor(database: Database, records: Map<string, Buffer>, sync: boolean) {
    this.#database = database;
    this.#records = records;
    this.#sync = sync;
  }

  /** Resolves once the changes are on disk and in the map: all of them, or none. Outcomes are those of merges. */
  commit(changes: readonly Change[]): Promise<SegmentOutcome[]> {
    if (changes.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // commits of this turn of the event loop go together
    while (this.#waiting.length > 0) await this.#writeBatch(this.#takeBatch());
    this.#writing = undefined;
  }

  #takeBatch(): Commit[] {
    let size = 0;
    let count = 0;
    while (count < this.#waiting.length) {
      size += this.#waiting[count]?.changes.length ?? 0;
      if (count > 0 && size > BATCH_CHANGES) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #writeBatch(batch: readonly Commit[]): Promise<void> {
    // What the batch makes of each record; undefined: removed.
    const changed = new Map<string, Buffer | undefined>();
    const outcomes = batch.map(({ changes }) => this.#apply(changes, changed));
    try {
      await this.#database.batch(
        Array.from(changed, ([key, value]) =>
          value === undefined ? { type: 'del' as const, key } : { type: 'put' as const, key, value },
        ),
        { sync: this.#sync },
      );
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const [key, value] of changed) {
      if (value === undefined) this.#records.delete(key);
      else this.#records.set(key, value);
    }
    batch.forEach(({ resolve }, i) => resolve(outcomes[i] ?? []));
  }

  #apply(changes: readonly Change[], changed: Map<string, Buffer | undefined>): SegmentOutcome[] {
    const outcomes: SegmentOutcome[] = [];
    for (const change of changes) {
      if (change.kind === 'put') changed.set(change.key, change.value);
      else if (change.kind === 'remove') changed.set(change.key, undefined);
      else {
        const { key, segment } = change;
        const before = changed.has(key) ? changed.get(key) : this.#records.get(key);
        const { record, outcome } = mergeSegment(before ?? null, segment);
        if (outcome === 'stored') changed.set(key, record);
        outcomes.push(outcome);
      }
    }
    return outcomes;
  }
}
