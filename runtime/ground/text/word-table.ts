import type { Token } from './token.js';

/** The most words that are remembered, and the room for their letters. A catalogue has fewer frequent words. */
const MOST_WORDS = 1 << 15;
const SLOTS = MOST_WORDS * 2;
const ROOM = 1 << 20;

/**
 * Remembers what a pure function makes of words, without a text for each word: the stem of a word, or nothing for a stop
 * word. It is an open hash table over UTF-16 units. When it is full, it starts again.
 */
export class WordTable {
  readonly #resolve: (word: string) => string;
  /** By slot: 1 + the place of the entry in `#units`; 0 for a free slot. */
  readonly #slots = new Int32Array(SLOTS);
  /** By entry: the length of the word, the length of the result, the word, the result. */
  #units = new Uint16Array(1 << 12);
  #used = 0;
  #words = 0;

  /** @param resolve '' drops the word */
  constructor(resolve: (word: string) => string) {
    this.#resolve = resolve;
  }

  /** Replaces the token by what the function makes of it. False: the word is dropped. */
  replace(token: Token): boolean {
    const { units, length } = token;
    let hash = 0x811c9dc5;
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (units[i] as number), 0x01000193);
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    for (let entry = this.#slots[slot] as number; entry !== 0; entry = this.#slots[slot] as number) {
      if (this.#is(entry - 1, token)) return this.#write(entry - 1, token);
      slot = (slot + 1) & (SLOTS - 1);
    }
    return this.#write(this.#add(slot, token), token);
  }

  #is(at: number, { units, length }: Token): boolean {
    const held = this.#units;
    if (held[at] !== length) return false;
    for (let i = 0; i < length; i++) if (held[at + 2 + i] !== units[i]) return false;
    return true;
  }

  #write(at: number, token: Token): boolean {
    const length = this.#units[at + 1] as number;
    const start = at + 2 + (this.#units[at] as number);
    for (let i = 0; i < length; i++) token.units[i] = this.#units[start + i] as number;
    token.length = length;
    return length > 0;
  }

  #add(slot: number, { units, length }: Token): number {
    const word = String.fromCharCode(...units.subarray(0, length));
    const result = this.#resolve(word).slice(0, units.length);
    const size = 2 + length + result.length;
    if (this.#words >= MOST_WORDS || this.#used + size > ROOM) {
      this.#slots.fill(0);
      this.#used = this.#words = 0;
    }
    if (this.#used + size > this.#units.length) {
      const more = new Uint16Array(Math.min(ROOM, this.#units.length * 2 + size));
      more.set(this.#units);
      this.#units = more;
    }
    const at = this.#used;
    this.#units[at] = length;
    this.#units[at + 1] = result.length;
    for (let i = 0; i < length; i++) this.#units[at + 2 + i] = units[i] as number;
    for (let i = 0; i < result.length; i++) this.#units[at + 2 + length + i] = result.charCodeAt(i);
    this.#slots[slot] = at + 1;
    this.#used += size;
    this.#words++;
    return at;
  }
}
