import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The characters that are held in memory. */
const HELD = 32 * 1024 * 1024;

interface Entry {
  readonly time: number;
  /** Of entries with the same time, the lower rank comes first. */
  readonly rank: number;
  readonly json: string;
}

/** Puts values into the order of their times. What does not fit into memory goes to sorted files, which are merged. */
export class TimeOrder<T> {
  readonly #folder: string;
  readonly #runs: string[] = [];
  #held: Entry[] = [];
  #characters = 0;

  /** @param folder is created when it is needed; the caller removes it */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds a value. It may have to wait for the disk. @param time epoch milliseconds */
  add(time: number, rank: number, value: T): Promise<void> | undefined {
    const json = JSON.stringify(value);
    this.#held.push({ time, rank, json });
    this.#characters += json.length;
    return this.#characters > HELD ? this.#write() : undefined;
  }

  /** Yields the values. Of values with the same time and rank, the first that was added comes first. */
  async *all(): AsyncGenerator<T> {
    // The held entries are the last ones that were added.
    const runs = [...this.#runs.map(entriesOf), this.#held.sort(compare)[Symbol.iterator]()];
    try {
      const heads = await Promise.all(runs.map(async (run) => await run.next()));
      for (;;) {
        let first = -1;
        let found: Entry | undefined;
        for (const [at, { done, value }] of heads.entries())
          if (done !== true && (found === undefined || compare(value, found) < 0))
            [first, found] = [at, value];
        if (found === undefined) break;
        yield JSON.parse(found.json) as T;
        const next = await runs[first]?.next();
        if (next !== undefined) heads[first] = next;
      }
    } finally {
      for (const run of runs) await run.return?.(undefined);
    }
  }

  async #write(): Promise<void> {
    const path = join(this.#folder, `${this.#runs.length}.tsv`);
    this.#runs.push(path);
    const lines = this.#held.sort(compare).map(({ time, rank, json }) => `${time}\t${rank}\t${json}\n`);
    this.#held = [];
    this.#characters = 0;
    await mkdir(this.#folder, { recursive: true });
    await writeFile(path, lines);
  }
}

function compare(a: Entry, b: Entry): number {
  return a.time - b.time || a.rank - b.rank;
}

async function* entriesOf(path: string): AsyncGenerator<Entry> {
  const input = createReadStream(path);
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const [time = '', rank = ''] = line.split('\t', 2);
      yield { time: Number(time), rank: Number(rank), json: line.slice(time.length + rank.length + 2) };
    }
  } finally {
    input.destroy();
  }
}
