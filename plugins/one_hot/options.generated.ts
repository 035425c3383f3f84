// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export type CategoriesEntry = string | readonly string[];

export interface Options {
  /** The text or reference to encode, or a list of them, e.g. product.category. */
  readonly of: Input;
  /** The outputs, from name to one or several texts, e.g. { lamps: Lamps, seats: [Chairs, Sofas] }. */
  readonly categories: Readonly<Record<string, CategoriesEntry>>;
}
