// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export interface Table {
  /** The text to look up in the table, e.g. query.query. */
  readonly by: Input<'text'>;
  /** The path in the project of a CSV file with the columns key, position and id. */
  readonly file: ProjectFile;
}

export interface Options {
  /**
   * The pins, from position to candidate id, e.g. { 1: p42 }. Position 1 is the first of the whole
   * ranking. An id that is not among the candidates is ignored, unless `bring` is true.
   */
  readonly positions?: Readonly<Record<string, string>>;
  /**
   * true: candidates that are pinned and were not found or sent join the others, at most 50 a request.
   * Filters still remove them.
   */
  readonly bring: boolean;
  /**
   * Candidate ids that the request carries, e.g. request.pinned. The first goes to position 1, the next
   * to position 2, and so on.
   */
  readonly ids?: Input<'texts'>;
  /** Pins by a text of the request, from a file. */
  readonly table?: Table;
}
