// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /** The reserved positions of the whole ranking, e.g. [3, 8]. Position 1 is the first. */
  readonly positions: readonly number[];
  /**
   * The condition for candidates that may take a reserved position. A candidate for which it is absent
   * does not take one.
   */
  readonly where: Input<'number'>;
  /** The least score, after all steps, that such a candidate needs. By default any score is enough. */
  readonly min_score?: number;
}
