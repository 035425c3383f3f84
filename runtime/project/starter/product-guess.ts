import type { Column } from './census.js';
import type { GuessedLanguage } from './guess-language.js';
import type { GuessedType } from './column-type.js';

/** What is guessed about a file of products. */
export interface ProductGuess {
  readonly rows: number;
  /** The column of the id, or undefined if the number of the row is the id; and the key of the entity type. */
  readonly key: {
    readonly from: string | undefined;
    readonly name: string;
    readonly why: string | undefined;
  };
  /** In the order of the file. */
  readonly attributes: readonly GuessedAttribute[];
  /** Columns that are stored and not declared. */
  readonly undeclared: readonly string[];
  /** The fields of records that an entity cannot hold, such as `details.material`. */
  readonly leftOut: readonly string[];
  /** The name under which a column is stored. */
  readonly names: ReadonlyMap<string, string>;
  /** Numbers of a feature view. */
  readonly features: readonly GuessedAttribute[];
  /** The text that identifies a product to a reader. */
  readonly title: GuessedAttribute | undefined;
  /** The attributes of the product that a card shows. */
  readonly display: GuessedDisplay;
  /** All texts to search in, the title first. */
  readonly texts: readonly GuessedAttribute[];
  /** Of the texts, if it is not English; found when the rows are read. */
  readonly language?: GuessedLanguage;
  /** Numbers that may say how good a product is. */
  readonly numbers: readonly GuessedNumber[];
  /** The number or the flag that says whether a product is in stock. */
  readonly stock: GuessedAttribute | undefined;
}

/** `display:` of the product, with the names of attributes. */
export interface GuessedDisplay {
  readonly title?: string;
  readonly image?: string;
  readonly subtitle?: string;
  readonly badges: readonly string[];
  /** The hosts of the images of the file. */
  readonly imageHosts: readonly string[];
}

export interface GuessedAttribute {
  /** The column of the file. */
  readonly from: string;
  readonly name: string;
  /** The name in English, which says what the column is. */
  readonly word: string;
  readonly type: GuessedType;
  /** Where expressions find it; for a field of an inline record, below the record. */
  readonly path: string;
  /** For a reference: the number of different values. */
  readonly values?: number;
}

/** An attribute, or a field of an inline record, with its column. */
export interface Leaf extends GuessedAttribute {
  readonly column: Column;
}

/** A number that a pipeline can add to the score, as an expression that lies between 0 and 1 for the products. */
export interface GuessedNumber {
  /** The name of the step and, with `w_` before it, of its param. */
  readonly name: string;
  readonly expression: string;
  /** The feature of the view that it reads; undefined if it reads an attribute. */
  readonly feature?: string;
  /** Its first weight. */
  readonly weight: number;
  readonly comment?: string;
}

/** The entity types that the attributes refer to. */
export function referredTypes({ attributes }: ProductGuess): string[] {
  return attributes.flatMap(({ type }) => (type.kind === 'ref' ? [type.entity] : []));
}
