// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export const TABLE_CHANGE = ['add', 'multiply'] as const;
export type TableChange = (typeof TABLE_CHANGE)[number];

export interface Table {
  /** The text of the candidate to look up in the column key, e.g. product.brand. */
  readonly by?: Input<'text'>;
  /**
   * For a table with several keys: from the name of a column to the text to look up in it, e.g. { brand:
   * product.brand, device: request.device }.
   */
  readonly keys?: Readonly<Record<string, Input<'text'>>>;
  /** The path in the project of a CSV file with the column amount, and key or the columns of keys. */
  readonly file: ProjectFile;
  /** How the amount changes the score: add or multiply. */
  readonly change: TableChange;
}

export interface Options {
  /**
   * The condition for candidates whose score changes; by default all candidates. If the condition is
   * absent, the score stays.
   */
  readonly where?: Input<'number'>;
  /** A number or an expression that is added to the score. */
  readonly add?: Input<'number'>;
  /** The factor m. The new score is score + |score| * (m - 1), so a factor above 1 never lowers a score. */
  readonly multiply?: Input<'number'>;
  /** A table with an amount for each text. The score of a candidate whose text is not in the table stays. */
  readonly table?: Table;
}
