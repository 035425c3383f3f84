import type { Account } from '../api/contributions.js';

/** The largest part of the numbers in a sum that rounding may have taken from it. */
const ROUNDING = { float32: 1e-5, float64: 1e-9 };

type Amounts = Pick<Account, 'base' | 'sum' | 'precision'> & {
  readonly terms: readonly { readonly amount: number }[];
};

/**
 * By how much the terms of an account miss the sum.
 * `most` is the largest number of the account.
 * @param value what it explains: the value of the output, or a difference of values; an account with a `sum` explains that
 */
export function missOf(
  { base, terms, sum, precision = 'float64' }: Amounts,
  value: number,
): { readonly amount: number; readonly most: number; readonly isRounding: boolean } {
  const expected = sum ?? value;
  let found = base;
  let most = Math.max(Math.abs(base), Math.abs(expected));
  for (const { amount } of terms) {
    found += amount;
    most = Math.max(most, Math.abs(amount));
  }
  const amount = expected - found;
  return {
    amount,
    most,
    isRounding: Math.abs(amount) <= ROUNDING[precision] * Math.max(most, Number.MIN_VALUE),
  };
}
