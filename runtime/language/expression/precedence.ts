import type { TokenSymbol } from './lexer.js';

/** How tightly operators bind. `not` is between `and` and the comparisons. */
export const NOT_LEVEL = 3;
export const COMPARISON_LEVEL = 4;
export const SUM_LEVEL = 5;
export const SIGN_LEVEL = 7;

export const LEVELS: ReadonlyMap<TokenSymbol, number> = new Map<TokenSymbol, number>([
  ['or', 1],
  ['and', 2],
  ['==', 4],
  ['!=', 4],
  ['<', 4],
  ['<=', 4],
  ['>', 4],
  ['>=', 4],
  ['in', 4],
  ['not', 4],
  ['+', 5],
  ['-', 5],
  ['*', 6],
  ['/', 6],
  ['%', 6],
]);
