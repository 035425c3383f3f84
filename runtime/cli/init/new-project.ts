import { STATISTICS_VIEW } from './guess-numbers.js';
import type { ProductGuess } from './product-guess.js';

/** The folder of the JSON Schemas in a project, which modelines name. */
export const SCHEMAS = '.millrace/schemas';
/** The rows of the file as entities; `millrace entities load` reads it. */
export const DATA = { products: 'data/product.jsonl', statistics: `data/${STATISTICS_VIEW}.jsonl` } as const;

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
  /** The names of the JSON Schemas that this version has, such as `pipeline`. */
  readonly schemas: readonly string[];
}

export interface Example {
  readonly id: string;
  readonly title: string;
}

/** The line by which an editor finds the schema of a file. */
export function modeline(schema: string, depth: number): string {
  return `# yaml-language-server: $schema=${'../'.repeat(depth)}${SCHEMAS}/${schema}.schema.json\n`;
}
