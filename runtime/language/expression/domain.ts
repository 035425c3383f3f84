/** The kinds of values that arguments have. A ref counts as a text. */
export const VALUE_KINDS = [
  'number',
  'bool',
  'text',
  'time',
  'numbers',
  'bools',
  'texts',
  'times',
  'vector',
] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

export type Argument =
  | ValueKind
  /** A literal: one of these, as an expression writes it. */
  | { readonly written: readonly [string, ...string[]] }
  /** Any text. Some begin with one of these, since the function reads their form. */
  | { readonly like: readonly [string, ...string[]] }
  /** A number. Others than those from `from` to `to` have no result. */
  | { readonly from: number; readonly to: number };

/** The arguments of one way of calling. */
export type Form = readonly Argument[];

/**
 * What a function or an operator takes: each way of calling it. Tests make expressions, their values and the bodies of
 * requests from it. A variadic function has a form with one argument more than it needs.
 */
export type Domain = readonly [Form, ...Form[]];

type Plain = 'number' | 'bool' | 'text' | 'time';

/** Two values, or a list and a value in either order. */
export function pairs(a: Plain, b: Plain): readonly [Form, ...Form[]] {
  return [
    [a, b],
    [`${a}s`, b],
    [a, `${b}s`],
  ];
}
