import type { JsonValue } from '../api/types.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
/** `[` and `{` differ in this bit alone, as `]` and `}` do. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;

/** Where a value of a JSON text is: its first byte, and the byte after its last one. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds values in the bytes of a JSON text, without parsing the rest: a part can be moved as it was written. The text may be
 * wrong where nothing is looked for. Keys with escapes are not found; of a repeated key, the first counts.
 */
export class JsonBytes {
  constructor(readonly bytes: Buffer) {}

  /**
   * The value at a path of keys, and of positions in lists.
   * @param start of the value that holds the path
   * @throws SyntaxError if the text ends inside a value
   */
  find(path: readonly string[], start = 0): Span | undefined {
    let at = this.#afterSpace(start);
    for (const key of path) {
      const found = this.bytes[at] === OPEN_LIST ? this.#item(at, key) : this.#member(at, key);
      if (found === undefined) return undefined;
      at = found;
    }
    return { start: at, end: this.#end(at) };
  }

  /** The items of a list, in pairs: the first byte of each, and the byte after it. @throws SyntaxError as `find` */
  items({ start }: Span): readonly number[] {
    const ends: number[] = [];
    for (let at = this.#first(start); at !== undefined;) {
      const end = this.#end(at);
      ends.push(at, end);
      at = this.#next(end);
    }
    return ends;
  }

  /** @throws SyntaxError if the bytes are not JSON */
  value({ start, end }: Span): JsonValue {
    const text = this.bytes.toString('utf8', start, end);
    const isPlain = this.bytes[start] === QUOTE && !text.includes('\\');
    return isPlain ? text.slice(1, -1) : (JSON.parse(text) as JsonValue);
  }

  #item(list: number, key: string): number | undefined {
    let left = Number(key);
    for (let at = this.#first(list); at !== undefined; at = this.#next(this.#end(at)))
      if (left-- === 0) return at;
    return undefined;
  }

  /** Where the value of a key of an object begins. */
  #member(object: number, key: string): number | undefined {
    if (this.bytes[object] !== OPEN) return undefined;
    const size = Buffer.byteLength(key) + 2;
    for (let at = this.#first(object); at !== undefined;) {
      const end = this.#end(at);
      const colon = this.#afterSpace(end);
      if (this.bytes[colon] !== COLON) throw new SyntaxError(`expected a colon at byte ${colon}`);
      const value = this.#afterSpace(colon + 1);
      const isKey = end - at === size && this.bytes.toString('utf8', at + 1, end - 1) === key;
      if (isKey) return value;
      at = this.#next(this.#end(value));
    }
    return undefined;
  }

  /** Where the first part of an object or list begins. */
  #first(start: number): number | undefined {
    const at = this.#afterSpace(start + 1);
    return ((this.bytes[at] ?? 0) | BRACE_BIT) === CLOSE ? undefined : at;
  }

  /** Where the part after one that ends here begins. */
  #next(end: number): number | undefined {
    const at = this.#afterSpace(end);
    return this.bytes[at] === COMMA ? this.#afterSpace(at + 1) : undefined;
  }

  #afterSpace(at: number): number {
    const { bytes } = this;
    while ((bytes[at] ?? COMMA) <= SPACE) at++;
    return at;
  }

  /** The byte after the value that begins here. */
  #end(start: number): number {
    const { bytes } = this;
    const { length } = bytes;
    const first = bytes[start] ?? 0;
    if (first === QUOTE) return this.#afterText(start);
    if ((first | BRACE_BIT) !== OPEN) {
      let at = start;
      for (let byte = first; at < length && byte > SPACE && byte !== COMMA && (byte | BRACE_BIT) !== CLOSE;)
        byte = bytes[++at] ?? 0;
      if (at === start) throw new SyntaxError(`expected a value at byte ${start}`);
      return at;
    }
    let depth = 0;
    for (let at = start; at < length;) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        at = this.#afterText(at);
        continue;
      }
      at++;
      const bracket = byte | BRACE_BIT;
      if (bracket === OPEN) depth++;
      else if (bracket === CLOSE && --depth === 0) return at;
    }
    throw new SyntaxError('the text ends inside a value');
  }

  #afterText(start: number): number {
    const { bytes } = this;
    const { length } = bytes;
    for (let at = start + 1; at < length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    throw new SyntaxError('the text ends inside a text');
  }
}
