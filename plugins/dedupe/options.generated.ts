// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /**
   * The text or number that duplicates share, e.g. product.title. A candidate for which it is absent is
   * kept.
   */
  readonly by: Input;
}
