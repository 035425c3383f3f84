import { SCHEMA_FOLDER } from '../editor/write-schemas.js';
import { STATISTICS_VIEW } from './guess-numbers.js';
import type { ProductGuess } from './product-guess.js';

/** The rows of the file as entities; `millrace entities load` reads it. */
export const DATA = { products: 'rows/product.jsonl', statistics: `rows/${STATISTICS_VIEW}.jsonl` } as const;

/** What is known of a new project before its files are written. */
export interface NewProject {
  /** The name of the project. */
  readonly name: string;
  readonly guess: ProductGuess;
  /** The most candidates of a judged query; 0 without judgments. */
  readonly longest: number;
  /** A judged query, for the README. */
  readonly query: string | undefined;
  /** Two products with different titles, for a test. */
  readonly examples: readonly Example[];
}

export interface Example {
  readonly id: string;
  readonly title: string;
}

/** The line by which an editor finds the schema of a file. */
export function modeline(schema: string, depth: number): string {
  return `# yaml-language-server: $schema=${'../'.repeat(depth)}${SCHEMA_FOLDER}/${schema}.schema.json\n`;
}
