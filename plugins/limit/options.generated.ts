// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export type Within = 'page' | number;

export interface Options {
  /**
   * The text or number that candidates of one group share, e.g. product.brand. If it is absent, nothing
   * limits the candidate.
   */
  readonly by: Input;
  /** The most candidates of one group. */
  readonly most: number;
  /**
   * Where they are counted. page: on each page of the size that the request asks for; a number: in any
   * window of so many places.
   */
  readonly within: Within;
}
