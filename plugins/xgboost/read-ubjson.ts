import { ModelFileError } from 'millrace/api';

const DEEPEST = 64;

/**
 * Reads Universal Binary JSON (draft 12) as XGBoost's `save_model('….ubj')` writes it. Numbers are big-endian. A list
 * with one type of number becomes an array of numbers.
 * @throws ModelFileError
 */
export function readUbjson(content: Buffer): unknown {
  try {
    return new Reader(content).whole();
  } catch (error) {
    if (error instanceof RangeError) throw new ModelFileError('the UBJSON is cut short');
    throw error;
  }
}

interface NumberType {
  readonly bytes: number;
  readonly read: (content: Buffer, at: number) => number;
}

const NUMBERS: ReadonlyMap<string, NumberType> = new Map([
  ['i', { bytes: 1, read: (content, at) => content.readInt8(at) }],
  ['U', { bytes: 1, read: (content, at) => content.readUInt8(at) }],
  ['I', { bytes: 2, read: (content, at) => content.readInt16BE(at) }],
  ['l', { bytes: 4, read: (content, at) => content.readInt32BE(at) }],
  ['L', { bytes: 8, read: (content, at) => Number(content.readBigInt64BE(at)) }],
  ['d', { bytes: 4, read: (content, at) => content.readFloatBE(at) }],
  ['D', { bytes: 8, read: (content, at) => content.readDoubleBE(at) }],
] satisfies (readonly [string, NumberType])[]);

class Reader {
  #at = 0;
  /** The number of elements in lists that state their length. */
  #elements = 0;

  constructor(readonly content: Buffer) {}

  /** The only value of a file. */
  whole(): unknown {
    const value = this.value(0);
    if (this.#at === this.content.length) return value;
    throw new ModelFileError(`the UBJSON ends at byte ${this.#at} of ${this.content.length}`);
  }

  value(depth: number): unknown {
    return this.#typed(this.#marker(), depth);
  }

  #typed(marker: string, depth: number): unknown {
    if (depth > DEEPEST) throw new ModelFileError('the UBJSON is nested too deeply');
    switch (marker) {
      case 'Z':
        return null;
      case 'T':
        return true;
      case 'F':
        return false;
      case 'C':
        return this.#text(1);
      case 'S':
      case 'H':
        return this.#text(this.#length());
      case '[':
        return this.#list(depth);
      case '{':
        return this.#object(depth);
      default:
        return this.#number(marker);
    }
  }

  #marker(): string {
    for (;;) {
      const marker = String.fromCharCode(this.content.readUInt8(this.#at++));
      if (marker !== 'N') return marker;
    }
  }

  #number(marker: string): number {
    const type = NUMBERS.get(marker);
    if (type === undefined)
      throw new ModelFileError(`the UBJSON has an unknown type at byte ${this.#at - 1}`);
    const at = this.#at;
    this.#at += type.bytes;
    return type.read(this.content, at);
  }

  #length(): number {
    const length = this.#number(this.#marker());
    if (length >= 0 && length <= this.content.length) return length;
    throw new ModelFileError('the UBJSON has a length beyond its end');
  }

  #text(length: number): string {
    const [from, to] = [this.#at, this.#at + length];
    if (to > this.content.length) throw new ModelFileError('the UBJSON is cut short');
    this.#at = to;
    return this.content.toString('utf8', from, to);
  }

  /** The optional head after `[` or `{`: one type for all elements, and their number. */
  #head(): { readonly type: string | undefined; readonly count: number | undefined } {
    let type: string | undefined;
    if (this.#next('$')) type = this.#marker();
    const count = this.#next('#') ? this.#length() : undefined;
    if (type !== undefined && count === undefined)
      throw new ModelFileError('the UBJSON has a type without a count');
    return { type, count };
  }

  #next(marker: string): boolean {
    if (this.content.readUInt8(this.#at) !== marker.charCodeAt(0)) return false;
    this.#at++;
    return true;
  }

  #list(depth: number): unknown[] {
    const { type, count } = this.#head();
    // Each element takes at least a byte, except typed nulls and bools: a few bytes could state any number of them.
    this.#elements += count ?? 0;
    if (this.#elements > this.content.length)
      throw new ModelFileError('the UBJSON has a length beyond its end');
    const list: unknown[] = [];
    const numbers = type === undefined ? undefined : NUMBERS.get(type);
    if (numbers !== undefined && count !== undefined) {
      // Most of a model is long lists of numbers.
      const { bytes, read } = numbers;
      for (let i = 0; i < count; i++) list.push(read(this.content, this.#at + i * bytes));
      this.#at += count * bytes;
    } else if (count === undefined) while (!this.#next(']')) list.push(this.value(depth + 1));
    else for (let i = 0; i < count; i++) list.push(this.#typed(type ?? this.#marker(), depth + 1));
    return list;
  }

  #object(depth: number): unknown {
    const { type, count } = this.#head();
    const entries = new Map<string, unknown>();
    const one = (): void => {
      const key = this.#text(this.#length());
      if (entries.has(key))
        throw new ModelFileError(`the UBJSON has \`${key.slice(0, 40)}\` twice in one object`);
      entries.set(key, this.#typed(type ?? this.#marker(), depth + 1));
    };
    if (count === undefined) while (!this.#next('}')) one();
    else for (let i = 0; i < count; i++) one();
    // Sets own properties, whatever the names of the keys are.
    return Object.fromEntries(entries);
  }
}
