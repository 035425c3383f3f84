// `npm run generate` writes this file from options.schema.json.
import type { KeyedOption } from 'millrace/api';

export const METHOD = ['rrf', 'min_max', 'z_score'] as const;
export type Method = (typeof METHOD)[number];

export type Missing = 'absent' | number;

export interface Options {
  /**
   * The scores to combine, from expression to weight, e.g. { title:bm25: 1, deep:score: 2 }. Larger
   * values are better; negate an input if smaller values are better.
   */
  readonly inputs: readonly KeyedOption<'number', number>[];
  /**
   * What each input contributes to the sum. rrf: 1 / (k + rank); min_max: the value scaled to 0 to 1;
   * z_score: the distance from the mean in standard deviations.
   */
  readonly method: Method;
  /** For rrf only: the constant k, by default 60. The larger it is, the less the first ranks stand out. */
  readonly k?: number;
  /**
   * For min_max and z_score only: the scaled value to use for a missing input. With absent (the
   * default), the candidate has no fused score. In rrf, a missing input adds nothing.
   */
  readonly missing?: Missing;
}
