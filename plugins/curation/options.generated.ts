// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export interface Options {
  /** The list to apply: the name of a file in curation/. */
  readonly list: string;
  /**
   * true: candidates that rules pin and were not found or sent join the others, at most 50 a request.
   * Filters still remove them. What campaigns pin and sponsor does so in any case.
   */
  readonly bring: boolean;
  /** The query that rules compare with theirs. By default `query.query`, if requests have it. */
  readonly query?: Input<'text'>;
  /**
   * The category that campaigns compare with theirs. By default `category.category_id` or
   * `request.category`, if requests have one.
   */
  readonly category?: Input<'text'>;
  /**
   * Features, definitions and attributes that the plan always reads, for rules that come while the
   * service runs. What the rules of the file use is read anyway; other attributes become columns when a
   * rule needs them.
   */
  readonly reads?: readonly string[];
}
