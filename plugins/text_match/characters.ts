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

/** Whether a character beyond the basic plane belongs in a token; it is kept as it is. */
export function inToken(codePoint: number): boolean {
  return IN_TOKEN.test(String.fromCodePoint(codePoint));
}

function learn(unit: number): number {
  const units = unfolded(String.fromCharCode(unit));
  if (typeof units === 'number') return (folds[unit] = units);
  const [first] = units;
  if (first === undefined) return (folds[unit] = BREAK);
  if (units.length === 1) return (folds[unit] = first);
  expansions.set(unit, units);
  return (folds[unit] = MANY);
}

function unfolded(character: string): number | readonly number[] {
  if (IGNORED.test(character) || ACCENT.test(character)) return SKIP;
  if (MARK_SIGN.test(character)) return BREAK;
  // To upper case and back is full case folding for what matters here: ß is ss, both small sigmas are one.
  const plain = UNSPACED.test(character)
    ? character.normalize('NFKC')
    : character.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
  return plain
    .split('')
    .filter((part) => IN_TOKEN.test(part) && !ACCENT.test(part))
    .map((part) => part.charCodeAt(0));
}
