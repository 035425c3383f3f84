// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export const BY = ['cosine', 'dot'] as const;
export type By = (typeof BY)[number];

export interface Options {
  /** The attribute of the candidates that holds their vectors, e.g. product.embedding. */
  readonly of: string;
  /** The vector of the request, of the same size and from the same model, e.g. query.embedding. */
  readonly to: Input<'vector'>;
  /**
   * A condition on attributes of the candidates: only those that meet it are found, e.g. product.stock >
   * 0 and product.country == user.country.
   */
  readonly where?: string;
  /** The most candidates to find. */
  readonly most: number;
  /** cosine: the nearest by the angle between the vectors; dot: by their dot product. */
  readonly by: By;
}
