// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /** The score before the boosts, e.g. ltr:score. If it is absent, the score of the candidate stays. */
  readonly base: Input<'number'>;
  /** How far all boosts together may move the score away from the base, e.g. [-1, 2]. */
  readonly add?: readonly [number, number];
  /**
   * The least and the largest factor of all boosts together, e.g. [0.5, 2]. A factor m means base +
   * |base| * (m - 1).
   */
  readonly multiply?: readonly [number, number];
}
