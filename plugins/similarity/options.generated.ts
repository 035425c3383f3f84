// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /**
   * The two vectors to compare, of the same size, e.g. [product.embedding, user.embedding]. They can be
   * attributes or features, of the candidate or of the request.
   */
  readonly vectors?: readonly [Input<'vector'>, Input<'vector'>];
  /**
   * The two lists of texts or references to compare, e.g. [product.categories, user.categories]. Set
   * either texts or vectors.
   */
  readonly texts?: readonly [Input<'texts'>, Input<'texts'>];
}
