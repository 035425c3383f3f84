// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /**
   * The condition for candidates that are placed below all others. If the condition is absent, the
   * candidate keeps its place.
   */
  readonly where: Input<'number'>;
}
