import { normalized } from '../core/unicode-form.js';

/** The units of measure that are known: the unit that they are counted in, and how many of it they are. */
const UNITS: Readonly<Record<string, readonly [string, number]>> = {
  ml: ['ml', 1],
  cl: ['ml', 10],
  dl: ['ml', 100],
  l: ['ml', 1000],
  liter: ['ml', 1000],
  litre: ['ml', 1000],
  mg: ['mg', 1],
  g: ['mg', 1000],
  gr: ['mg', 1000],
  kg: ['mg', 1_000_000],
  mm: ['mm', 1],
  cm: ['mm', 10],
  m: ['mm', 1000],
  km: ['mm', 1_000_000],
  kb: ['kb', 1],
  mb: ['kb', 1024],
  gb: ['kb', 1024 ** 2],
  tb: ['kb', 1024 ** 3],
  mah: ['mah', 1],
  ah: ['mah', 1000],
  mw: ['mw', 1],
  w: ['mw', 1000],
  kw: ['mw', 1_000_000],
  khz: ['khz', 1],
  mhz: ['khz', 1000],
  ghz: ['khz', 1_000_000],
};

export const UNIT_NAMES: readonly string[] = Object.keys(UNITS);

const NAMES = [...UNIT_NAMES].sort((a, b) => b.length - a.length).join('|');
/** A letter of a script with spaces. In 緑茶500ml入り, words stand next to the amount. */
const LETTER = '(?:(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}])\\p{L})';
/** A number that no letter or digit precedes, and a unit that none follows. */
const AMOUNT = new RegExp(
  `(?<![\\p{N}.,]|${LETTER})(\\d{1,3}(?:[.,]\\d{3})+(?:[.,]\\d{1,2})?|\\d+(?:[.,]\\d+)?)[ \\u00a0-]?(${NAMES})(?!\\p{N}|${LETTER})`,
  'giu',
);
const HAS_DIGIT = /\d/u;
/** Wide letters and digits, and units as one sign: ５００ｍｌ, ㎏. */
const WIDE = /[\uff01-\uff5e\u3380-\u33dd]/gu;

/** Writes every amount in the base unit, as one word: `1,5 l` and `1.5 L` become `1500ml`. */
export function withBaseUnits(text: string): string {
  const narrow = narrowed(text);
  if (!HAS_DIGIT.test(narrow)) return text;
  return narrow.replaceAll(AMOUNT, (found: string, digits: string, unit: string) => {
    const [base, factor] = UNITS[unit.toLowerCase()] ?? [];
    const amount = numberOf(digits);
    if (base === undefined || factor === undefined || Number.isNaN(amount)) return found;
    return `${String(rounded(amount * factor)).replace('.', 'p')}${base}`;
  });
}

/** The first amount of the text that can be given in the unit; NaN if there is none. */
export function firstQuantity(text: string, unit: string): number {
  const [base, factor] = UNITS[unit.toLowerCase()] ?? [];
  const narrow = narrowed(text);
  if (base === undefined || factor === undefined || !HAS_DIGIT.test(narrow)) return NaN;
  for (const [, digits = '', name = ''] of narrow.matchAll(AMOUNT)) {
    const [other, times] = UNITS[name.toLowerCase()] ?? [];
    if (other === base && times !== undefined) return rounded((numberOf(digits) * times) / factor);
  }
  return NaN;
}

function narrowed(text: string): string {
  return text.replaceAll(WIDE, (sign) => normalized(sign, 'NFKC'));
}

/** A point or comma before exactly three digits separates thousands, unless a 0 precedes it: 10,000 and 0.750. */
function numberOf(digits: string): number {
  const marks = digits.match(/[.,]/gu) ?? [];
  const last = marks.at(-1);
  if (last === undefined) return Number(digits);
  const grouped = marks.every((mark) => mark === last) && /^[1-9]\d*(?:[.,]\d{3})+$/u.test(digits);
  if (grouped) return Number(digits.replaceAll(/[.,]/gu, ''));
  const at = digits.lastIndexOf(last);
  return Number(`${digits.slice(0, at).replaceAll(/[.,]/gu, '')}.${digits.slice(at + 1)}`);
}

/** Rounds away what binary fractions add: 0.33 · 1000. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
