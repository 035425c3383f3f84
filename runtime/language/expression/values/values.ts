import type { ElementType, ExpressionType } from '../environment.js';
import { elementOf } from '../types.js';

/**
 * What can be said of the values of an expression before any request is seen. It may say too little, and never too
 * much: every value that the expression can have lies within it. Of a list it describes the elements.
 */
export interface Values {
  /** Whether there is a value: in every cell, in some, or in none. Elements of a list count as `sometimes`. */
  readonly known: 'always' | 'sometimes' | 'never';
  /** The smallest and the largest number; a bool is 0 or 1. */
  readonly low: number;
  readonly high: number;
  /** Whether the numbers are whole. */
  readonly whole: boolean;
  /** All texts that are possible. Undefined: any text. */
  readonly texts?: ReadonlySet<string> | undefined;
  /** `lower`: the text has no capital letter from A to Z. `upper`: it has no small letter from a to z. */
  readonly letters?: 'lower' | 'upper' | undefined;
}

/** Longer sets of texts are not followed. */
const MOST_TEXTS = 100;

export const ANY: Values = { known: 'sometimes', low: -Infinity, high: Infinity, whole: false };
export const EITHER: Values = { known: 'sometimes', low: 0, high: 1, whole: true };
export const NEVER: Values = {
  known: 'never',
  low: Infinity,
  high: -Infinity,
  whole: true,
  texts: new Set(),
};

/** The values of a type. */
export function anyOf(type: ExpressionType): Values {
  const element = elementOf(type);
  if (element?.kind === 'bool') return EITHER;
  return isWhole(element) ? { ...ANY, whole: true } : ANY;
}

function isWhole(element: ElementType | undefined): boolean {
  return element !== undefined && 'whole' in element;
}

export function exactly(value: number | string): Values {
  if (typeof value === 'number')
    return { known: 'always', low: value, high: value, whole: Number.isInteger(value) };
  return { ...ANY, known: 'always', texts: new Set([value]) };
}

/** A truth value that can be true, false, both or neither. */
export function truth(canBeTrue: boolean, canBeFalse: boolean, known: Values['known']): Values {
  if (!canBeTrue && !canBeFalse) return NEVER;
  return { known, low: canBeFalse ? 0 : 1, high: canBeTrue ? 1 : 0, whole: true };
}

/** The values of a cell that is one of several. */
export function union(all: readonly Values[], known: Values['known']): Values {
  const possible = all.filter((one) => one.known !== 'never');
  if (possible.length === 0 || known === 'never') return NEVER;
  const [first] = possible;
  const texts = possible.every((one) => one.texts !== undefined)
    ? new Set(possible.flatMap((one) => [...(one.texts ?? [])]))
    : undefined;
  return {
    known,
    low: Math.min(...possible.map(({ low }) => low)),
    high: Math.max(...possible.map(({ high }) => high)),
    whole: possible.every(({ whole }) => whole),
    texts: texts !== undefined && texts.size <= MOST_TEXTS ? texts : undefined,
    letters: possible.every(({ letters }) => letters === first?.letters) ? first?.letters : undefined,
  };
}

/** The values that satisfy both descriptions. `known` is that of the first, unless nothing is left. */
export function intersection(a: Values, b: Values): Values {
  const low = Math.max(a.low, b.low);
  const high = Math.min(a.high, b.high);
  const { texts: mine, texts: own = b.texts } = a;
  const texts =
    mine === undefined || b.texts === undefined ? own : new Set([...mine].filter((one) => b.texts?.has(one)));
  if (low > high || texts?.size === 0) return NEVER;
  const known = a.known === 'never' || b.known === 'never' ? 'never' : a.known;
  return {
    known: known !== 'never' && b.known === 'always' ? 'always' : known,
    low,
    high,
    whole: a.whole || b.whole,
    texts,
    letters: a.letters ?? b.letters,
  };
}

/** Whether a value of one can equal a value of the other. */
export function canBeEqual(a: Values, b: Values): boolean {
  if (intersection(a, b).known === 'never') return false;
  return fitsLetters(a, b) && fitsLetters(b, a) && fitsWhole(a, b) && fitsWhole(b, a);
}

function fitsLetters({ letters }: Values, { texts }: Values): boolean {
  if (letters === undefined || texts === undefined) return true;
  return [...texts].some((text) => !hasOtherLetters(text, letters));
}

/** Whether a text has letters from A to Z of the other kind. */
export function hasOtherLetters(text: string, letters: 'lower' | 'upper'): boolean {
  return (letters === 'lower' ? /[A-Z]/ : /[a-z]/).test(text);
}

function fitsWhole(a: Values, b: Values): boolean {
  return !a.whole || b.texts !== undefined || b.low !== b.high || Number.isInteger(b.low);
}

/** Whether there is exactly one possible value. */
export function isSingle({ known, low, high, texts }: Values): boolean {
  if (known === 'never') return false;
  return texts === undefined ? low === high : texts.size === 1;
}

/** Whether an operation that needs all its arguments has a result. */
export function knownOfAll(args: readonly Values[]): Values['known'] {
  if (args.some(({ known }) => known === 'never')) return 'never';
  return args.every(({ known }) => known === 'always') ? 'always' : 'sometimes';
}
