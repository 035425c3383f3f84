// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /** The score of each candidate. If it is absent or not finite, the candidate keeps its previous score. */
  readonly value: Input<'number'>;
}
