// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /**
   * The text or number that the variants of one thing share, e.g. product.parent. A candidate for which
   * it is absent stands for itself.
   */
  readonly by: Input;
  /**
   * The variant with the highest number is shown, e.g. -product.price for the cheapest one. By default
   * the variant with the best place is shown.
   */
  readonly show?: Input<'number'>;
}
