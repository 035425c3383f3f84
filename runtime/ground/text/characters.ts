import { normalized } from '../core/unicode-form.js';

/**
 * Folds characters for tokens: compatibility decomposition, case folding, removal of accents. The result for each
 * UTF-16 unit is computed once and stored in a table of 65,536 entries.
 */
const UNKNOWN = 0;
/** The character ends a token. */
export const BREAK = 1;
/** The character is dropped: an accent, an apostrophe, a zero-width joiner, the form of an emoji. */
export const SKIP = 2;
/** The character becomes several units, which `expansion` returns. */
export const MANY = 3;

/** By UTF-16 unit: what `fold` returns; 0 before its first call. The halves of surrogate pairs have no meaning here. */
export const folds = new Uint16Array(0x10000);
const expansions = new Map<number, readonly number[]>();

/** Marks of Latin, Greek and Cyrillic letters, and the points of Hebrew and Arabic. Vowels of Indic scripts are none. */
const ACCENT =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1abd\u1abf-\u1ace]|[\u1dc0-\u1dff]|[\ufe20-\ufe2f]/u;
/** Apostrophes, soft hyphens, tatweel, and what has no shape of its own: joiners, directions, and the form of an emoji. */
const IGNORED =
  /['\u2018\u2019\u02bc\u00ad\u0640\u061c\u200b-\u200f\u2060\ufeff\p{Enclosing_Mark}\p{Variation_Selector}]/u;
/** Signs that decompose to letters. The letters do not belong to the preceding word. */
const MARK_SIGN = /[\u2120\u2122]/u;
const IN_TOKEN = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that write no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u;

/** BREAK, SKIP, MANY, or the unit that replaces the character in a token. */
export function fold(codePoint: number): number {
  // Characters beyond the basic plane are rare, and too many for the table.
  if (codePoint > 0xffff) return mark(foldedUnits(codePoint));
  const known = folds[codePoint] ?? BREAK;
  return known === UNKNOWN ? learn(codePoint) : known;
}

/** The same for `lower`. */
export const lowered = new Uint16Array(0x10000);

/**
 * Like `fold`, but keeps accents: the letters that a stemmer takes. A character that would become several units stays as
 * it is, and so does one beyond the basic plane.
 */
export function lower(codePoint: number): number {
  if (codePoint > 0xffff) return fold(codePoint);
  const known = lowered[codePoint] ?? BREAK;
  if (known !== UNKNOWN) return known;
  const folded = fold(codePoint);
  // Combining marks belong to the letter before them; texts with them are composed first.
  if (folded === BREAK || (folded === SKIP && !ACCENT.test(String.fromCharCode(codePoint)))) {
    return (lowered[codePoint] = folded);
  }
  const letters = normalized(String.fromCharCode(codePoint), 'NFKC').toLowerCase();
  const unit = letters.length === 1 && IN_TOKEN.test(letters) ? letters.charCodeAt(0) : folded;
  return (lowered[codePoint] = unit);
}

/** The units of a character for which `fold` returns MANY. */
export function expansion(codePoint: number): readonly number[] {
  if (codePoint <= 0xffff) return expansions.get(codePoint) ?? [];
  const units = foldedUnits(codePoint);
  return typeof units === 'number' ? [] : units;
}

/** No unit before this one is a token by itself. */
export const FIRST_ALONE = 0x0e00;

/** Whether a folded unit is a token by itself. */
export function standsAlone(unit: number): boolean {
  return unit >= FIRST_ALONE && unit <= 0x9fff && UNSPACED.test(String.fromCharCode(unit));
}

function learn(unit: number): number {
  const units = foldedUnits(unit);
  if (typeof units !== 'number' && units.length > 1) expansions.set(unit, units);
  return (folds[unit] = mark(units));
}

function mark(units: number | readonly number[]): number {
  if (typeof units === 'number') return units;
  return units.length > 1 ? MANY : (units[0] ?? BREAK);
}

function foldedUnits(codePoint: number): number | readonly number[] {
  const character = String.fromCodePoint(codePoint);
  if (IGNORED.test(character) || ACCENT.test(character)) return SKIP;
  if (MARK_SIGN.test(character)) return BREAK;
  const units = unitsOf(UNSPACED.test(character) ? normalized(character, 'NFKC') : caseless(character));
  // A character that would split into several tokens, e.g. ㍿, is kept as one unit.
  return units.length > 1 && units.some(standsAlone) ? unitsOf(character) : units;
}

function unitsOf(text: string): number[] {
  return text.split('').map((part) => part.charCodeAt(0));
}

/** Lower, upper and lower case again are full case folding for this purpose: ẞ, ß and ss become equal. */
function caseless(character: string): string {
  const base = lettersOf(character);
  return lettersOf(base.toLowerCase().toUpperCase().toLowerCase());
}

function lettersOf(text: string): string {
  return Array.from(normalized(text, 'NFKD'))
    .filter((part) => IN_TOKEN.test(part) && !ACCENT.test(part) && !IGNORED.test(part))
    .join('');
}
