// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export type Unknown = 'absent' | number;

export interface Options {
  /** The text or reference to look up, e.g. product.brand. */
  readonly of: Input<'text'>;
  /** The categories; the code of each is its position, starting at 0. Set either categories or file. */
  readonly categories?: readonly string[];
  /**
   * The path in the project of a file of categories: CSV with the columns category and code, or JSON
   * with a list of texts or an object from text to code.
   */
  readonly file?: ProjectFile;
  /** The code of a text that is not among the categories; with absent, it has no code. */
  readonly unknown: Unknown;
}
