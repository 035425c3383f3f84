// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /** The list to apply: the name of a file in curation/. */
  readonly list: string;
  /** The query that rules compare with theirs. By default `query.query`, if requests have it. */
  readonly query?: Input<'text'>;
  /**
   * Further attributes, features and definitions that rules may use which come while the service runs.
   * What the rules of the file use is read anyway.
   */
  readonly reads?: readonly string[];
}
