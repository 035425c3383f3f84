// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export const AMONG = ['remaining', 'all'] as const;
export type Among = (typeof AMONG)[number];

export interface Options {
  /** The text or the list of texts to compare, e.g. product.brand or product.categories. */
  readonly value: Input;
  /**
   * Which candidates to compare. remaining: those that no filter has removed and that are within the
   * step's top; all: all candidates of the request.
   */
  readonly among: Among;
}
