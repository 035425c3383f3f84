import type { DataFolder } from './data-folder.js';
import type { RecordMemory } from './record-memory.js';

/** The minimum number of replaced and deleted bytes that starts a compaction. */
const LEAST_GARBAGE = 32 * 1024 * 1024;
/** Live bytes that one step compacts; closing waits for at most one step. */
const STEP_BYTES = 32 * 1024 * 1024;
/** Sorts after every possible key. */
const LAST_KEY = '\u{10ffff}';

/**
 * LevelDB removes replaced and deleted records only when one of its levels overflows. This class compacts when they
 * outweigh the live records, so the size of the folder stays within a small multiple of its content.
 */
export class Compaction {
  readonly #folder: DataFolder;
  readonly #records: RecordMemory;
  readonly #leastGarbage: number;
  #garbage = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(folder: DataFolder, records: RecordMemory, leastGarbage = LEAST_GARBAGE) {
    this.#folder = folder;
    this.#records = records;
    this.#leastGarbage = leastGarbage;
  }

  /** Records the bytes that a batch replaced or deleted; starts a compaction in the background if there are enough. */
  note(bytes: number): void {
    this.#garbage += bytes;
    if (this.#running !== undefined || this.#stopped) return;
    if (this.#garbage < Math.max(this.#leastGarbage, this.#records.bytes)) return;
    this.#garbage = 0;
    this.#running = this.#compact().finally(() => (this.#running = undefined));
  }

  /** Prevents further steps; resolves when the current step, if any, is finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #compact(): Promise<void> {
    let from = '';
    for (const to of [...this.#boundaries(), LAST_KEY]) {
      if (this.#stopped) return;
      try {
        await this.#folder.database.compactRange(from, to);
      } catch {
        return; // the database is closed or was just reopened; a later compaction removes the garbage
      }
      from = to;
    }
  }

  /** Keys in LevelDB's order that split the records into steps of about equal size. */
  #boundaries(): string[] {
    const steps = Math.floor(this.#records.bytes / STEP_BYTES);
    if (steps === 0) return [];
    const every = Math.ceil(this.#records.size / steps);
    // A sample of the keys in insertion order is accurate enough; sorting all keys would delay requests.
    const sample: Buffer[] = [];
    let at = 0;
    const stride = Math.max(1, Math.floor(every / 16));
    for (const key of this.#records.keys()) if (at++ % stride === 0) sample.push(Buffer.from(key));
    sample.sort((a, b) => a.compare(b));
    return sample.filter((_, i) => i % 16 === 15).map(String);
  }
}
