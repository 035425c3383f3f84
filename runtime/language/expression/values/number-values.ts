/** What arithmetic and functions of numbers can give. Rounding keeps the order of numbers, so exact operations keep bounds. */
import type { Arithmetic, Comparison } from '../ast.js';
import { ANY, canBeEqual, isSingle, knownOfAll, NEVER, truth, type Values } from './values.js';

/** The numbers from `low` to `high`. A result that can be infinite is not always a value. */
function between(low: number, high: number, whole: boolean, known: Values['known']): Values {
  if (known === 'never' || low > high) return NEVER;
  const isFinite = Number.isFinite(low) && Number.isFinite(high);
  return { known: known === 'always' && !isFinite ? 'sometimes' : known, low, high, whole };
}

/** Of a list: whether no element has a value. */
function isEmpty({ low, high }: Values): boolean {
  return low > high;
}

export function arithmeticValues(op: Arithmetic, a: Values, b: Values): Values {
  const known = knownOfAll([a, b]);
  if (known === 'never' || isEmpty(a) || isEmpty(b)) return NEVER;
  const whole = a.whole && b.whole;
  switch (op) {
    case '+':
      return between(a.low + b.low, a.high + b.high, whole, known);
    case '-':
      return between(a.low - b.high, a.high - b.low, whole, known);
    case '*':
      return ofCorners(times, a, b, whole, known);
    case '/':
      if (b.low === 0 && b.high === 0) return NEVER;
      if (b.low <= 0 && b.high >= 0) return ANY;
      return ofCorners(over, a, b, false, known);
    case '%':
      return remainderValues(a, b, whole, known);
  }
}

function ofCorners(
  f: (a: number, b: number) => number,
  a: Values,
  b: Values,
  whole: boolean,
  known: Values['known'],
): Values {
  const corners = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
  return between(Math.min(...corners), Math.max(...corners), whole, known);
}

/** 0 times a bound that is infinite is 0, because the values themselves are finite. */
function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

/** A bound that is infinite over another: the values between them can have any ratio of that sign, so 0 is one bound. */
function over(a: number, b: number): number {
  if (a === 0) return 0;
  return Number.isFinite(b) ? a / b : Number.isFinite(a) ? 0 : Math.sign(a) * Math.sign(b) * Infinity;
}

/** The remainder has the sign of the dividend. It is not larger than the dividend, nor than the divisor. */
function remainderValues(a: Values, b: Values, whole: boolean, known: Values['known']): Values {
  if (b.low === 0 && b.high === 0) return NEVER;
  const most = Math.min(Math.max(-a.low, a.high), Math.max(-b.low, b.high));
  const mayBeZero = b.low <= 0 && b.high >= 0;
  return between(
    a.low < 0 ? -most : 0,
    a.high > 0 ? most : 0,
    whole,
    mayBeZero && known === 'always' ? 'sometimes' : known,
  );
}

export function negated({ known, low, high, whole }: Values): Values {
  return between(0 - high, 0 - low, whole, known);
}

export function leastOf(a: Values, b: Values): Values {
  return between(Math.min(a.low, b.low), Math.min(a.high, b.high), a.whole && b.whole, knownOfAll([a, b]));
}

export function greatestOf(a: Values, b: Values): Values {
  return between(Math.max(a.low, b.low), Math.max(a.high, b.high), a.whole && b.whole, knownOfAll([a, b]));
}

export function comparisonValues(op: Comparison, a: Values, b: Values): Values {
  const known = knownOfAll([a, b]);
  if (known === 'never') return NEVER;
  switch (op) {
    case '==':
      return truth(canBeEqual(a, b), canDiffer(a, b), known);
    case '!=':
      return truth(canDiffer(a, b), canBeEqual(a, b), known);
    case '<':
      return truth(a.low < b.high, a.high >= b.low, known);
    case '<=':
      return truth(a.low <= b.high, a.high > b.low, known);
    case '>':
      return truth(a.high > b.low, a.low <= b.high, known);
    case '>=':
      return truth(a.high >= b.low, a.low < b.high, known);
  }
}

/** Times and numbers have no texts, so equal bounds mean an equal value. */
function canDiffer(a: Values, b: Values): boolean {
  return !(isSingle(a) && isSingle(b) && canBeEqual(a, b));
}

export function andValues(a: Values, b: Values): Values {
  const canBeFalse = a.low === 0 || b.low === 0;
  const isFalse = (one: Values): boolean => one.known === 'always' && one.high === 0;
  const known = isFalse(a) || isFalse(b) || knownOfAll([a, b]) === 'always' ? 'always' : 'sometimes';
  return truth(a.high === 1 && b.high === 1, canBeFalse, known);
}

export function notValues({ known, low, high }: Values): Values {
  return truth(low === 0, high === 1, known);
}

/** A bound that a function computes with a rounding error. 0 is exact. */
const below = (value: number): number => value - Math.abs(value) * 1e-12;
const above = (value: number): number => value + Math.abs(value) * 1e-12;

/** A rising function that is defined from `start` on; not at `start` itself if its value there is not finite. */
function rising(f: (x: number) => number, start = -Infinity): (x: Values) => Values {
  const isOutside = (x: number): boolean => x < start || (x === start && f(start) === -Infinity);
  return ({ known, low, high }) => {
    if (isOutside(high)) return NEVER;
    return between(
      below(f(Math.max(low, start))),
      above(f(high)),
      false,
      isOutside(low) && known === 'always' ? 'sometimes' : known,
    );
  };
}

/** The rounding functions are exact. */
function stepping(f: (x: number) => number): (x: Values) => Values {
  return ({ known, low, high }) => between(f(low), f(high), true, known);
}

const FUNCTIONS: Readonly<Record<string, (x: Values) => Values>> = {
  abs: ({ known, low, high, whole }) =>
    between(low > 0 ? low : high < 0 ? -high : 0, Math.max(Math.abs(low), Math.abs(high)), whole, known),
  sign: stepping(Math.sign),
  round: stepping(Math.round),
  floor: stepping(Math.floor),
  ceil: stepping(Math.ceil),
  sqrt: rising(Math.sqrt, 0),
  exp: rising(Math.exp),
  log: rising(Math.log, 0),
  log1p: rising(Math.log1p, -1),
  log10: rising(Math.log10, 0),
};

/** The values of a function of one number; undefined if this table does not have it. */
export function functionValues(name: string, x: Values): Values | undefined {
  const f = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (f === undefined) return undefined;
  return x.known === 'never' || isEmpty(x) ? NEVER : f(x);
}
