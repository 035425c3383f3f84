// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export const ABSENT = ['keep', 'drop'] as const;
export type Absent = (typeof ABSENT)[number];

export interface Options {
  /** The condition for candidates to keep, e.g. product.number_in_stock > 0. */
  readonly keep: Input<'number'>;
  /**
   * What to do with a candidate whose condition is absent because it lacks an attribute: keep (and count
   * it) or drop.
   */
  readonly absent: Absent;
}
