import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { murmur3 } from '../../../ground/core/murmur3.js';

/** The characters of all partitions that are held in memory. */
const HELD = 16 * 1024 * 1024;

/**
 * Lines, split by the hash of a key into partitions that each fit into memory. Lines of one key keep their order. What
 * does not fit into a small buffer goes to files.
 */
export class Spool {
  readonly #folder: string;
  readonly #held: string[][];
  #characters = 0;
  readonly #written = new Set<number>();
  lines = 0;

  /** @param folder is created when it is needed */
  constructor(folder: string, partitions: number) {
    this.#folder = folder;
    this.#held = Array.from({ length: Math.max(1, partitions) }, () => []);
  }

  /** Adds a line, which must not hold a line break. It may have to wait for the disk. */
  add(key: string, line: string): Promise<void> | undefined {
    this.lines += 1;
    const parts = this.#held.length;
    this.#held[parts === 1 ? 0 : murmur3(Buffer.from(key)) % parts]?.push(line);
    this.#characters += line.length;
    return this.#characters > HELD ? this.#write() : undefined;
  }

  /** Yields the lines of each partition, and forgets them. */
  async *partitions(): AsyncGenerator<readonly string[]> {
    for (const [index, held] of this.#held.entries()) {
      const written = this.#written.has(index) ? await this.#read(index) : [];
      this.#held[index] = [];
      const lines = written.length === 0 ? held : written.concat(held);
      if (lines.length > 0) yield lines;
    }
  }

  async #write(): Promise<void> {
    this.#characters = 0;
    await mkdir(this.#folder, { recursive: true });
    for (const [index, lines] of this.#held.entries()) {
      if (lines.length === 0) continue;
      this.#held[index] = [];
      this.#written.add(index);
      await appendFile(this.#path(index), `${lines.join('\n')}\n`);
    }
  }

  async #read(index: number): Promise<string[]> {
    const text = await readFile(this.#path(index), 'utf8');
    await rm(this.#path(index));
    return text.slice(0, -1).split('\n');
  }

  #path(index: number): string {
    return join(this.#folder, `${index}.jsonl`);
  }
}
