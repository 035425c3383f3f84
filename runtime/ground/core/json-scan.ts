import type { Pieces } from './pieces.js';
import { STRING_FAULTS, type JsonFault } from './json-fault.js';
import { endOfEscape, endOfScalar, MOST_DIGITS } from './json-tokens.js';
import { JsonUnits, type JsonUnit, type ListSpan } from './json-units.js';
import { MOST_NESTING } from './parse-json.js';

/** The number of bytes that are read between two yields. */
const STEP = 32 * 1024;

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
  const scanner = new Scanner(bytes, new JsonUnits(bytes, listName, unit));
  for (let until = STEP; scanner.read(until); until += STEP) yield;
  return scanner.end();
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #units: JsonUnits;
  #at = 0;
  #state = VALUE;
  #fault: JsonFault | undefined;
  #isEndless = false;
  /** LIST or OBJECT, by depth. */
  #open = new Uint8Array(256);
  #depth = 0;
  #deepest = 0;

  constructor(bytes: Buffer, units: JsonUnits) {
    this.#bytes = bytes;
    this.#units = units;
  }

  /** Reads up to an offset or slightly further; returns false at the end or at a fault. */
  read(until: number): boolean {
    const bytes = this.#bytes;
    const units = this.#units;
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
          if (this.#depth === 2 && units.isInList) units.endElement(at);
        } else {
          state = COLON;
          if (this.#depth === 1) units.endName(at);
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
          if (this.#depth === 2 && units.isInList) units.startElement(at);
          units.values++;
          if (byte === OPEN_LIST) {
            this.#push(LIST);
            if (this.#depth === 2) units.openList(at);
            at++;
            state = VALUE_OR_END;
          } else if (byte === OPEN_OBJECT) {
            this.#push(OBJECT);
            at++;
            state = NAME_OR_END;
          } else if (byte === QUOTE) {
            units.texts++;
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
            if (this.#depth === 2 && units.isInList) units.endElement(at);
          }
          break;
        case NAME:
        case NAME_OR_END:
          if (byte === QUOTE) {
            if (this.#depth === 1) units.startName(at);
            units.parts++;
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
    const { spans, list } = this.#units.end();
    return {
      fault: this.#fault,
      spans,
      list,
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
    this.#units.parts++;
  }

  #close(end: number): void {
    this.#depth--;
    const units = this.#units;
    if (!units.isInList) return;
    if (this.#depth === 2) units.endElement(end);
    else if (this.#depth === 1) units.endList(end);
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
