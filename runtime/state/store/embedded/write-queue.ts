import { mergeSegment } from '../codec/feature-record.js';
import type { RecordSwap, SegmentOutcome, SegmentWrite, StoreRecord, SwapOutcome } from '../store.js';
import { isStored } from '../compare-records.js';
import { Compaction } from './compaction.js';
import type { DataFolder } from './data-folder.js';
import { DIGEST_KEY, type Digest } from './digest.js';
import { ExpiringKeys } from './expiring-keys.js';
import type { RecordMemory } from './record-memory.js';

/** A change that one caller requests; it is applied as a whole or not at all. */
export type Change =
  | { readonly kind: 'put'; readonly of: readonly StoreRecord[] }
  | { readonly kind: 'remove'; readonly of: readonly string[] }
  /** Removes all expired records; the list is not used. */
  | { readonly kind: 'expire'; readonly of: readonly [string] }
  | { readonly kind: 'merge'; readonly of: readonly SegmentWrite[] }
  | { readonly kind: 'swap'; readonly of: readonly RecordSwap[] };

/** The outcome of each merge or swap of a change. */
export type Outcome = SegmentOutcome | SwapOutcome;

interface Commit {
  readonly change: Change;
  readonly resolve: (outcomes: Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of records in one batch, unless a single commit has more. */
const BATCH_RECORDS = 4096;

/** Bytes that `rewriteAll` copies before other work on the event loop may run. */
const REWRITE_BYTES = 1024 * 1024;

/**
 * The only way to change the records. Commits that arrive while a batch is being written form the next batch. Memory is
 * updated after the disk, so a reader never sees a write that a crash would undo, and both apply writes in the same
 * order.
 *
 * A batch that failed (full disk) may leave a part of itself at the end of LevelDB's log. Batches written after that
 * part would be lost. So the database is reopened before the next write, and the records of the failed batch are
 * restored from memory.
 */
export class WriteQueue {
  readonly #folder: DataFolder;
  readonly #records: RecordMemory;
  readonly #sync: boolean;
  readonly #compaction: Compaction;
  readonly #expiring: ExpiringKeys;
  #digest: Digest;
  #waiting: Commit[] = [];
  /** Work that waits for the end of the current batch. */
  readonly #between: (() => Promise<void>)[] = [];
  /** The keys written since `rewriteAll` started to copy records; undefined if none is running. */
  #touched: Set<string> | undefined;
  #stopped = false;
  #writing: Promise<void> | undefined;
  /** Keys of failed batches. Their values on disk may differ from memory. */
  readonly #doubtful = new Set<string>();

  constructor(folder: DataFolder, records: RecordMemory, digest: Digest, sync: boolean) {
    this.#folder = folder;
    this.#records = records;
    this.#digest = digest;
    this.#sync = sync;
    this.#compaction = new Compaction(folder, records);
    this.#expiring = new ExpiringKeys(records);
  }

  /**
   * Resolves when the whole change is on disk and in memory; rejects if no part of it is stored. Resolves with the
   * outcomes of merges and swaps.
   */
  commit(change: Change): Promise<Outcome[]> {
    if (change.of.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Copies all records from memory into a new database and puts it in the place of the old one. So nothing remains of
   * what was removed or replaced before: no value, no key in a table or a manifest, no line of LevelDB's own log. Writes
   * continue, except during the last step.
   */
  async rewriteAll(): Promise<void> {
    await this.commit({ kind: 'expire', of: [''] });
    const touched = new Set<string>();
    this.#touched = touched;
    const rewritten = await this.#folder.startRewrite();
    try {
      let batch = rewritten.batch();
      let size = 0;
      for (const key of this.#records.keys()) {
        const value = this.#records.get(key);
        if (value === undefined) continue;
        batch.put(key, value);
        size += value.length + key.length;
        if (size < REWRITE_BYTES) continue;
        await batch.write();
        if (this.#stopped) throw new Error('The embedded store is closed');
        batch = rewritten.batch();
        size = 0;
      }
      await batch.write();
      await this.#pause(async () => {
        const last = rewritten.batch();
        for (const key of touched) {
          const value = this.#records.get(key);
          if (value === undefined) last.del(key);
          else last.put(key, value);
        }
        last.put(DIGEST_KEY, this.#digest.encode());
        await last.write({ sync: true });
        await this.#folder.replace(rewritten);
        this.#doubtful.clear(); // the new database was written from memory
      });
    } finally {
      this.#touched = undefined;
      await this.#folder.endRewrite(rewritten);
    }
  }

  /** Runs work while nothing is written. */
  #pause(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#between.push(() => work().then(resolve, reject));
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when no write is queued and nothing accesses the database. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#writing;
    await this.#compaction.stop();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // collects all commits of this turn of the event loop
    while (this.#waiting.length > 0 || this.#between.length > 0) {
      const work = this.#between.shift();
      await (work === undefined ? this.#writeBatch(this.#takeBatch()) : work());
    }
    this.#writing = undefined;
  }

  #takeBatch(): Commit[] {
    let size = 0;
    let count = 0;
    while (count < this.#waiting.length) {
      size += this.#waiting[count]?.change.of.length ?? 0;
      if (count > 0 && size > BATCH_RECORDS) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #writeBatch(batch: readonly Commit[]): Promise<void> {
    // The new value of each changed record; undefined if it was removed.
    const changed = new Map<string, Buffer | undefined>();
    let outcomes: Outcome[][];
    try {
      outcomes = batch.map(({ change }) => this.#apply(change, changed));
      await this.#write(changed);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    batch.forEach(({ resolve }, i) => resolve(outcomes[i] ?? []));
  }

  #apply(change: Change, changed: Map<string, Buffer | undefined>): Outcome[] {
    const outcomes: Outcome[] = [];
    const now = Date.now();
    if (change.kind === 'put') for (const { key, value } of change.of) changed.set(key, value);
    else if (change.kind === 'remove') for (const key of change.of) changed.set(key, undefined);
    else if (change.kind === 'expire')
      for (const key of this.#expiring.over(now, Infinity)) changed.set(key, undefined);
    else if (change.kind === 'merge') {
      for (const { key, segment, replaces } of change.of) {
        const before = this.#current(key, changed) ?? null;
        const { record, outcome } = mergeSegment(before, segment, now, replaces);
        if (outcome === 'stored') changed.set(key, record);
        outcomes.push(outcome);
      }
    } else {
      for (const swap of change.of) {
        const isNow = isStored(this.#current(swap.key, changed) ?? null, swap);
        if (isNow) changed.set(swap.key, swap.after);
        outcomes.push(isNow ? 'stored' : 'changed');
      }
    }
    for (const key of this.#expiring.over(now)) if (!changed.has(key)) changed.set(key, undefined);
    return outcomes;
  }

  /** The record after the changes of the batch so far. */
  #current(key: string, changed: ReadonlyMap<string, Buffer | undefined>): Buffer | undefined {
    return changed.has(key) ? changed.get(key) : this.#records.get(key);
  }

  async #write(changed: ReadonlyMap<string, Buffer | undefined>): Promise<void> {
    if (this.#doubtful.size > 0) await this.#recover();
    const digest = this.#digest.after(changed, this.#records);
    try {
      await this.#toDisk(changed, digest, this.#sync);
    } catch (error) {
      for (const key of changed.keys()) this.#doubtful.add(key);
      throw error;
    }
    this.#digest = digest;
    let garbage = 0;
    for (const [key, value] of changed) {
      garbage += value === undefined ? this.#records.delete(key) : this.#records.put(key, value);
      this.#expiring.note(key);
      this.#touched?.add(key);
    }
    this.#compaction.note(garbage);
  }

  async #recover(): Promise<void> {
    const { database } = this.#folder;
    if (database.status === 'open') await database.close();
    await database.open();
    const restored = new Map<string, Buffer | undefined>();
    for (const key of this.#doubtful) restored.set(key, this.#records.get(key));
    await this.#toDisk(restored, this.#digest, true);
    this.#doubtful.clear();
  }

  async #toDisk(
    changed: ReadonlyMap<string, Buffer | undefined>,
    digest: Digest,
    sync: boolean,
  ): Promise<void> {
    // A chained batch takes a tenth of the time of a list of operations.
    const batch = this.#folder.database.batch();
    for (const [key, value] of changed) {
      if (value === undefined) batch.del(key);
      else batch.put(key, value);
    }
    batch.put(DIGEST_KEY, digest.encode());
    await batch.write({ sync });
  }
}
