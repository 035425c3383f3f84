// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /**
   * What makes candidates alike: a vector (cosine), a text (equal or not), or a list of texts (Jaccard).
   * A candidate for which it is absent is like no other.
   */
  readonly by: Input;
  /** The weight of the score, from 0 (only the difference counts) to 1 (only the score counts). */
  readonly relevance: number;
  /** How many places are filled so, from the first. The cost grows with places times candidates. */
  readonly places: number;
  /** How many of the candidates directly above count. By default all of them count. */
  readonly window?: number;
}
