import { murmur3OfText } from './murmur3.js';
import { Uint32Column } from './columns.js';

const PER_CHUNK = 1024;

/** Texts that seldom repeat, in long strings: a string for each would need its length and two words more. */
export class Texts {
  #chunks: string[] = [];
  /** Where each text ends in its chunk. */
  #ends = new Uint32Column();
  #pending: string[] = [];
  #used = 0;

  get length(): number {
    return this.#ends.length;
  }

  push(text: string): void {
    this.#pending.push(text);
    this.#used += text.length;
    this.#ends.push(this.#used);
    if (this.#pending.length < PER_CHUNK) return;
    this.#chunks.push(this.#pending.join(''));
    this.#pending = [];
    this.#used = 0;
  }

  /** @returns an empty text if there is no such row */
  at(row: number): string {
    const chunk = this.#chunks[Math.floor(row / PER_CHUNK)];
    if (chunk === undefined) return this.#pending[row - this.#chunks.length * PER_CHUNK] ?? '';
    return chunk.slice(row % PER_CHUNK === 0 ? 0 : this.#ends.at(row - 1), this.#ends.at(row));
  }

  /** Keeps these rows only, in this order. */
  keep(order: Uint32Array): void {
    const kept = new Texts();
    for (const row of order) kept.push(this.at(row));
    this.#chunks = kept.#chunks;
    this.#ends = kept.#ends;
    this.#pending = kept.#pending;
    this.#used = kept.#used;
  }
}

/** Finds the first row of a text: a hash table of row numbers, whose rows of one hash are chained. */
export class TextIndex {
  readonly #texts: Texts;
  /** By hash: the first row, plus 1; 0 for none. */
  readonly #heads: Uint32Array;
  /** By row: the next row of the same hash, plus 1; 0 for none. */
  readonly #next: Uint32Array;

  /** @param texts may not change afterwards */
  constructor(texts: Texts) {
    this.#texts = texts;
    this.#heads = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, texts.length))));
    this.#next = new Uint32Array(texts.length);
    for (let row = texts.length - 1; row >= 0; row--) {
      const hash = this.#hashOf(texts.at(row));
      this.#next[row] = this.#heads[hash] ?? 0;
      this.#heads[hash] = row + 1;
    }
  }

  rowOf(text: string): number | undefined {
    for (let at = this.#heads[this.#hashOf(text)] ?? 0; at > 0; at = this.#next[at - 1] ?? 0)
      if (this.#texts.at(at - 1) === text) return at - 1;
    return undefined;
  }

  #hashOf(text: string): number {
    return murmur3OfText(text) & (this.#heads.length - 1);
  }
}
