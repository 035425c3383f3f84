import { BREAK, expansion, fold, MANY, SKIP, standsAlone } from './characters.js';
import type { Stemming } from './options.generated.js';

/** The maximum length of a token; the rest is dropped. */
export const LONGEST_TOKEN = 64;

/** One token at a time, as UTF-16 units: `units[0] … units[length - 1]`. Reused for the next token. */
export interface Token {
  units: Uint16Array;
  length: number;
}

/**
 * Splits texts into tokens: runs of letters and digits of any script. Tokens are folded (case, accents, width) and
 * stemmed. It allocates no strings.
 */
export class Analyzer {
  /** The last token that `next` found. */
  readonly token: Token = { units: new Uint16Array(LONGEST_TOKEN), length: 0 };
  #text = '';
  #at = 0;

  constructor(readonly stemming: Stemming) {}

  start(text: string): void {
    this.#text = text;
    this.#at = 0;
  }

  /** Moves to the next token; false at the end of the text. */
  next(): boolean {
    const text = this.#text;
    const { units } = this.token;
    const end = text.length;
    let at = this.#at;
    let length = 0;
    while (at < end) {
      const unit = text.charCodeAt(at);
      const codePoint = isSurrogate(unit) ? (text.codePointAt(at) ?? unit) : unit;
      const width = codePoint > 0xffff ? 2 : 1;
      const folded = fold(codePoint);
      if (folded > MANY) {
        if (standsAlone(folded)) {
          if (length > 0) break;
          units[length++] = folded;
          at += width;
          break;
        }
        if (length < LONGEST_TOKEN) units[length++] = folded;
      } else if (folded === BREAK) {
        if (length > 0) break;
      } else if (folded !== SKIP) {
        for (const part of expansion(codePoint)) if (length < LONGEST_TOKEN) units[length++] = part;
      }
      at += width;
    }
    this.#at = at;
    if (length === 0) return false;
    this.token.length = this.stemming === 'plural' ? singular(units, length) : length;
    return true;
  }

  /** The tokens of a text as strings. For queries and statistics, not for the texts of candidates. */
  tokens(text: string): string[] {
    const tokens: string[] = [];
    this.start(text);
    while (this.next()) {
      tokens.push(String.fromCharCode(...this.token.units.subarray(0, this.token.length)));
    }
    return tokens;
  }
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

const [A, C, E, H, I, S, U, X, Y, Z] = [97, 99, 101, 104, 105, 115, 117, 120, 121, 122] as const;
const LAST_DIGIT = 57;

/**
 * The S stemmer (D. Harman, "How effective is suffixing?", JASIS 42, 1991) with two changes. -ches, -shes, -sses, -xes
 * and -zzes lose both letters. -ie is treated as -y, so that hoodie matches hoodies, and battery matches batteries.
 * Rewrites the end of `units` where needed and returns the new length.
 */
function singular(units: Uint16Array, length: number): number {
  if (length < 4) return length;
  const last = units[length - 1] ?? 0;
  if (last === E && units[length - 2] === I) return endInY(units, length - 2);
  if (last !== S) return length;
  const second = units[length - 2] ?? 0;
  if (second === S || second === U || second <= LAST_DIGIT) return length;
  if (second !== E) return length - 1;
  const third = units[length - 3];
  const fourth = units[length - 4];
  if (third === I) return endInY(units, length - 3);
  const both =
    third === X ||
    (third === H && (fourth === C || fourth === S)) ||
    (third === fourth && (third === S || third === Z));
  return both ? length - 2 : length - 1;
}

/** Puts y after the first `stem` units. Short words (pie, ties) and words on -aie- or -eie- keep their -ie. */
function endInY(units: Uint16Array, stem: number): number {
  const before = units[stem - 1];
  if (stem < 3 || before === A || before === E) return stem + 2;
  units[stem] = Y;
  return stem + 1;
}
