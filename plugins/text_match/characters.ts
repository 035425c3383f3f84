/**
 * Folds characters as tokens have them: compatibility decomposition, case folding, accents dropped. What a UTF-16
 * unit becomes is worked out once and kept in a table of 65,536 entries.
 */
const UNKNOWN = 0;
/** The character ends a token. */
export const BREAK = 1;
/** It leaves no trace: an accent, an apostrophe, a zero-width joiner. */
export const SKIP = 2;
/** It becomes several units; `expansion` has them. */
export const MANY = 3;

const folds = new Uint16Array(0x10000);
const expansions = new Map<number, readonly number[]>();

const ACCENT = /[\u0300-\u036f]/u;
const IGNORED = /['\u2018\u2019\u02bc\u00ad\u200b-\u200d\ufeff]/u;
/** They decompose to letters that are no part of the word before them. */
const MARK_SIGN = /[\u2120\u2122]/u;
const IN_TOKEN = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that write no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u;

/** BREAK, SKIP, MANY, or the unit that stands for `unit` in a token. */
export function fold(unit: number): number {
  const known = folds[unit] ?? BREAK;
  return known === UNKNOWN ? learn(unit) : known;
}

/** The units for which `fold` says MANY. */
export function expansion(unit: number): readonly number[] {
  return expansions.get(unit) ?? [];
}

/** Whether each character is a token of its own. Of a folded unit. */
export function standsAlone(unit: number): boolean {
  return unit >= 0x0e00 && unit <= 0x9fff && UNSPACED.test(String.fromCharCode(unit));
}

/** The units of a character beyond the basic plane; none if it ends a token. */
export function astralUnits(codePoint: number): readonly number[] {
  const units = folded(String.fromCodePoint(codePoint));
  return typeof units === 'number' ? [] : units;
}

function learn(unit: number): number {
  const units = folded(String.fromCharCode(unit));
  if (typeof units === 'number') return (folds[unit] = units);
  const [first] = units;
  if (first === undefined) return (folds[unit] = BREAK);
  if (units.length === 1) return (folds[unit] = first);
  expansions.set(unit, units);
  return (folds[unit] = MANY);
}

function folded(character: string): number | readonly number[] {
  if (IGNORED.test(character) || ACCENT.test(character)) return SKIP;
  if (MARK_SIGN.test(character)) return BREAK;
  const units = (UNSPACED.test(character) ? character.normalize('NFKC') : caseless(character))
    .split('')
    .map((part) => part.charCodeAt(0));
  // Characters that would fall apart into several tokens, e.g. ㍿, stay whole.
  return units.length > 1 && units.some(standsAlone) ? [character.charCodeAt(0)] : units;
}

/** Lower case, then upper, then lower again is full case folding for what matters here: ẞ, ß and ss are one. */
function caseless(character: string): string {
  const base = lettersOf(character);
  return lettersOf(base.toLowerCase().toUpperCase().toLowerCase());
}

function lettersOf(text: string): string {
  return [...text.normalize('NFKD')]
    .filter((part) => IN_TOKEN.test(part) && !ACCENT.test(part) && !IGNORED.test(part))
    .join('');
}
