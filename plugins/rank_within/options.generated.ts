// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export const ORDER = ['descending', 'ascending'] as const;
export type Order = (typeof ORDER)[number];

export const AMONG = ['remaining', 'all'] as const;
export type Among = (typeof AMONG)[number];

export interface Options {
  /** The number to compare, e.g. product.price. */
  readonly value: Input<'number'>;
  /**
   * Which number is the best, for rank and percentile only. descending: the largest; ascending: the
   * smallest.
   */
  readonly order: Order;
  /**
   * Which candidates to compare. remaining: those that no filter has removed and that are within the
   * step's top; all: all candidates of the request.
   */
  readonly among: Among;
  /** Adds the output quantile: the number below which this share of the compared numbers lies, e.g. 0.9. */
  readonly quantile?: number;
}
