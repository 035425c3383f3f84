import type { Pieces } from './pieces.js';
import { STRING_FAULTS, type JsonFault } from './json-fault.js';
import { MOST_NESTING } from './parse-json.js';

/** The number of bytes that are read between two yields. */
const STEP = 32 * 1024;
/**
 * The elements of a list are parsed together in groups of up to this many bytes. For the slowest JSON, JSON.parse takes
 * about 3 ms per group.
 */
const GROUP_BYTES = 32 * 1024;

/** The maximum number of characters of a number, because a number is read in one step. */
export const MOST_DIGITS = 1024 * 1024;

/** A part of a body: an element of its list, or everything outside the list. */
export interface JsonUnit {
  /** The position in the list; undefined for the part outside the list. */
  readonly element: number | undefined;
  readonly bytes: number;
  /** The number of names, lists and objects in it. They cost the most time to parse, check and store. */
  readonly parts: number;
  /** The number of values of any kind in it. */
  readonly values: number;
  /** The number of strings among its values. */
  readonly texts: number;
}

/** A list in the outermost object, and the offsets of its elements. */
export interface ListSpan {
  /** The offset of the opening bracket, and the offset after the closing bracket. */
  readonly start: number;
  end: number;
  length: number;
  /** The start and end of each group of elements, and the number of elements before it. */
  readonly starts: number[];
  readonly ends: number[];
  readonly firsts: number[];
}

export interface JsonScan {
  /** The first place that is not valid JSON, as a byte offset. */
  readonly fault: JsonFault | undefined;
  /** All lists with the requested name, in order. */
  readonly spans: readonly ListSpan[];
  /** The list that JSON.parse would keep: the value of the last field with this name, if it is a list. */
  readonly list: ListSpan | undefined;
  readonly isTooDeep: boolean;
  /** True if a number is longer than `MOST_DIGITS`. The bytes after it are not read. */
  readonly isEndless: boolean;
}

/** The states of the scanner: the token that is expected next. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME = 2;
const NAME_OR_END = 3;
const COLON = 4;
const FOLLOWS = 5;
const IN_NAME = 6;
const IN_TEXT = 7;

const [LIST, OBJECT] = [0, 1];
const [QUOTE, BACKSLASH, COMMA, COLON_SIGN] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE, MINUS, PLUS, DOT] = [0x30, 0x39, 0x2d, 0x2b, 0x2e];

/** The maximum bytes of an escaped ASCII character: `\u0061` is six bytes. A longer name cannot be the list's name. */
const BYTES_OF_CHARACTER = 6;

/**
 * Reads bytes as JSON.parse does, without creating values. It finds the first place that is not JSON, the offsets of
 * one list's elements, and the size of each part. It takes 2 to 5 ns per byte.
 * @param bytes UTF-8 without a byte order mark
 * @param listName the field of the outermost object whose value is split into elements if it is a list; ASCII
 * @param unit called with each part
 */
export function* scanJson(
  bytes: Buffer,
  listName: string | undefined,
  unit: (unit: JsonUnit) => void,
): Pieces<JsonScan> {
  const scanner = new Scanner(bytes, listName, unit);
  for (let until = STEP; scanner.read(until); until += STEP) yield;
  return scanner.end();
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #listName: string | undefined;
  readonly #unit: (unit: JsonUnit) => void;
  #at = 0;
  #state = VALUE;
  #fault: JsonFault | undefined;
  #isEndless = false;
  /** LIST or OBJECT, by depth. */
  #open = new Uint8Array(256);
  #depth = 0;
  #deepest = 0;
  #parts = 0;
  #values = 0;
  #texts = 0;
  /** The offset of the current or last name in the outermost object. */
  #nameAt = 0;
  /** True if the current field of the outermost object has the list's name. */
  #isNamed = false;
  /** The list that is being read. */
  #span: ListSpan | undefined;
  readonly #spans: ListSpan[] = [];
  #list: ListSpan | undefined;
  #elementAt = 0;
  #elementParts = 0;
  #elementValues = 0;
  #elementTexts = 0;
  /** The totals of all lists that were split. */
  #listParts = 0;
  #listValues = 0;
  #listTexts = 0;
  #listBytes = 0;

  constructor(bytes: Buffer, listName: string | undefined, unit: (unit: JsonUnit) => void) {
    this.#bytes = bytes;
    this.#listName = listName;
    this.#unit = unit;
  }

  /** Reads up to an offset or slightly further; returns false at the end or at a fault. */
  read(until: number): boolean {
    const bytes = this.#bytes;
    const limit = Math.min(until, bytes.length);
    let at = this.#at;
    let state = this.#state;
    while (at < limit) {
      if (state === IN_TEXT || state === IN_NAME) {
        const end = this.#restOfText(at, limit);
        if (this.#fault !== undefined) return false;
        at = Math.abs(end);
        if (end < 0) continue;
        if (state === IN_TEXT) {
          state = FOLLOWS;
          if (this.#depth === 2 && this.#span !== undefined) this.#endElement(at);
        } else {
          state = COLON;
          if (this.#depth === 1) this.#isNamed = this.#isListName(at);
        }
        continue;
      }
      const byte = bytes[at] as number;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++;
        continue;
      }
      switch (state) {
        case VALUE:
        case VALUE_OR_END:
          if (byte === CLOSE_LIST && state === VALUE_OR_END) {
            at++;
            this.#close(at);
            state = FOLLOWS;
            break;
          }
          if (this.#depth === 2 && this.#span !== undefined) this.#startElement(at);
          this.#values++;
          if (byte === OPEN_LIST) {
            this.#openList(at);
            at++;
            state = VALUE_OR_END;
          } else if (byte === OPEN_OBJECT) {
            this.#push(OBJECT);
            at++;
            state = NAME_OR_END;
          } else if (byte === QUOTE) {
            this.#texts++;
            at++;
            state = IN_TEXT;
          } else {
            const end = endOfScalar(bytes, at, byte);
            if (end < 0) return this.#refuse(at, 'a value');
            if (end - at > MOST_DIGITS) {
              this.#isEndless = true;
              return false;
            }
            at = end;
            state = FOLLOWS;
            if (this.#depth === 2 && this.#span !== undefined) this.#endElement(at);
          }
          break;
        case NAME:
        case NAME_OR_END:
          if (byte === QUOTE) {
            if (this.#depth === 1) this.#nameAt = at;
            this.#parts++;
            at++;
            state = IN_NAME;
          } else if (byte === CLOSE_OBJECT && state === NAME_OR_END) {
            at++;
            this.#close(at);
            state = FOLLOWS;
          } else return this.#refuse(at, expectedIn(state, this.#inside));
          break;
        case COLON:
          if (byte !== COLON_SIGN) return this.#refuse(at, expectedIn(state, this.#inside));
          at++;
          state = VALUE;
          break;
        default: {
          const inside = this.#inside;
          if (inside === undefined) return this.#refuse(at, expectedIn(state, inside));
          if (byte === COMMA) {
            at++;
            state = inside === LIST ? VALUE : NAME;
          } else if (byte === (inside === LIST ? CLOSE_LIST : CLOSE_OBJECT)) {
            at++;
            this.#close(at);
          } else return this.#refuse(at, expectedIn(state, inside));
        }
      }
    }
    this.#at = at;
    this.#state = state;
    return at < bytes.length;
  }

  end(): JsonScan {
    const { length } = this.#bytes;
    const isRead = this.#fault !== undefined || this.#isEndless;
    if (!isRead && (this.#state !== FOLLOWS || this.#depth > 0))
      this.#refuse(length, expectedIn(this.#state, this.#inside));
    this.#unit({
      element: undefined,
      bytes: length - this.#listBytes,
      parts: this.#parts - this.#listParts,
      values: this.#values - this.#listValues,
      texts: this.#texts - this.#listTexts,
    });
    return {
      fault: this.#fault,
      spans: this.#spans,
      list: this.#list,
      isTooDeep: this.#deepest > MOST_NESTING,
      isEndless: this.#isEndless,
    };
  }

  get #inside(): number | undefined {
    return this.#depth === 0 ? undefined : this.#open[this.#depth - 1];
  }

  #refuse(offset: number, expected: string): false {
    this.#fault = { offset, expected };
    return false;
  }

  #push(kind: number): void {
    if (this.#depth === this.#open.length) {
      const larger = new Uint8Array(2 * this.#depth);
      larger.set(this.#open);
      this.#open = larger;
    }
    this.#open[this.#depth++] = kind;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    this.#parts++;
  }

  #openList(at: number): void {
    this.#push(LIST);
    if (this.#depth !== 2 || !this.#isNamed) return;
    this.#span = { start: at, end: at, length: 0, starts: [], ends: [], firsts: [] };
    this.#listParts -= this.#parts;
    this.#listValues -= this.#values;
    this.#listTexts -= this.#texts;
  }

  #close(end: number): void {
    this.#depth--;
    const span = this.#span;
    if (span === undefined) return;
    if (this.#depth === 2) this.#endElement(end);
    else if (this.#depth === 1) {
      span.end = end;
      this.#listParts += this.#parts;
      this.#listValues += this.#values;
      this.#listTexts += this.#texts;
      this.#listBytes += end - span.start;
      this.#spans.push(span);
      this.#list = span;
      this.#span = undefined;
    }
  }

  #startElement(at: number): void {
    this.#elementAt = at;
    this.#elementParts = this.#parts;
    this.#elementValues = this.#values;
    this.#elementTexts = this.#texts;
  }

  #endElement(end: number): void {
    const span = this.#span as ListSpan;
    const start = this.#elementAt;
    const last = span.starts.length - 1;
    if (last >= 0 && end - (span.starts[last] as number) <= GROUP_BYTES) span.ends[last] = end;
    else {
      span.starts.push(start);
      span.ends.push(end);
      span.firsts.push(span.length);
    }
    this.#unit({
      element: span.length,
      bytes: end - start,
      parts: this.#parts - this.#elementParts,
      values: this.#values - this.#elementValues,
      texts: this.#texts - this.#elementTexts,
    });
    span.length++;
  }

  /**
   * True if the name that ends here in the outermost object is the list's name. Then an earlier field with this name is
   * dropped.
   */
  #isListName(end: number): boolean {
    const wanted = this.#listName;
    if (wanted === undefined) return false;
    const bytes = this.#bytes;
    const start = this.#nameAt + 1;
    const length = end - 1 - start;
    if (length < wanted.length || length > BYTES_OF_CHARACTER * wanted.length) return false;
    let isSame = length === wanted.length;
    for (let i = 0; isSame && i < length; i++) isSame = bytes[start + i] === wanted.charCodeAt(i);
    if (!isSame) {
      // Only a name with an escape can equal the list's name with different bytes.
      const escape = bytes.subarray(start, end - 1).indexOf(BACKSLASH);
      if (escape < 0 || JSON.parse(bytes.toString('utf8', start - 1, end)) !== wanted) return false;
    }
    this.#list = undefined;
    return true;
  }

  /**
   * Continues to read a string. Returns the offset after its closing quote, or the negative offset at which to
   * continue.
   */
  #restOfText(from: number, limit: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < limit) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) {
        const end = endOfEscape(bytes, at);
        if (end < 0) {
          this.#refuse(at, STRING_FAULTS.wrongEscape);
          return at;
        }
        at = end;
      } else if (byte < 0x20) {
        this.#refuse(at, STRING_FAULTS.rawControl);
        return at;
      } else at++;
    }
    return -at;
  }
}

function expectedIn(state: number, inside: number | undefined): string {
  switch (state) {
    case VALUE:
    case VALUE_OR_END:
      return 'a value';
    case NAME:
      return 'a name in double quotes';
    case NAME_OR_END:
      return 'a name in double quotes or }';
    case COLON:
      return 'a colon after the name';
    case FOLLOWS:
      if (inside === undefined) return 'nothing after the document';
      return inside === LIST ? 'a comma or ]' : 'a comma or }';
    default:
      return STRING_FAULTS.unclosed;
  }
}

/** Returns the offset after an escape, or -1 if it is not valid. */
function endOfEscape(bytes: Buffer, at: number): number {
  switch (bytes[at + 1]) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i])) return -1;
      return at + 6;
    default:
      return -1;
  }
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (byte >= ZERO && byte <= NINE) || (letter >= 0x61 && letter <= 0x66);
}

/** Returns the offset after a number, true, false or null, or -1 if there is none. */
function endOfScalar(bytes: Buffer, at: number, first: number): number {
  if (first === 0x74) return endOfWord(bytes, at, 'true');
  if (first === 0x66) return endOfWord(bytes, at, 'false');
  if (first === 0x6e) return endOfWord(bytes, at, 'null');
  const from = first === MINUS ? at + 1 : at;
  let end = bytes[from] === ZERO ? from + 1 : endOfDigits(bytes, from);
  if (end === from) return -1;
  if (bytes[end] === DOT) {
    const fraction = endOfDigits(bytes, end + 1);
    if (fraction === end + 1) return end;
    end = fraction;
  }
  if (((bytes[end] ?? 0) | 0x20) !== 0x65) return end;
  const sign = bytes[end + 1];
  const digits = sign === PLUS || sign === MINUS ? end + 2 : end + 1;
  const exponent = endOfDigits(bytes, digits);
  return exponent === digits ? end : exponent;
}

function endOfDigits(bytes: Buffer, from: number): number {
  const limit = Math.min(bytes.length, from + MOST_DIGITS + 1);
  let at = from;
  while (at < limit && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  return at;
}

function endOfWord(bytes: Buffer, at: number, word: string): number {
  for (let i = 1; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return -1;
  return at + word.length;
}
