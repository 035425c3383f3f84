// `npm run generate` writes this file from options.schema.json.
import type { ColumnKind, Input, KeyedOption, ProjectFile } from 'millrace/api';

export type Statistics =
  | 'candidates'
  | {
      /** The path in the project of the file. */
      readonly file: ProjectFile;
    };

export const STEMMING = ['plural', 'none', 'language'] as const;
export type Stemming = (typeof STEMMING)[number];

export const LANGUAGE = ['arabic', 'armenian', 'chinese', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'greek', 'hungarian', 'indonesian', 'irish', 'italian', 'japanese', 'korean', 'lithuanian', 'norwegian', 'portuguese', 'romanian', 'russian', 'serbian', 'spanish', 'swedish', 'tamil', 'thai', 'turkish'] as const;
export type Language = (typeof LANGUAGE)[number];

export const STOP_WORDS = ['keep', 'drop'] as const;
export type StopWords = (typeof STOP_WORDS)[number];

export const ACCENTS = ['fold', 'keep'] as const;
export type Accents = (typeof ACCENTS)[number];

export interface Options {
  /** The text to search for, e.g. query.query. Only its first 32 words count. */
  readonly query: Input<'text'>;
  /**
   * The text of the candidate to search in, or a list of texts, e.g. product.title. Set either field or
   * fields.
   */
  readonly field?: Input;
  /**
   * Several texts to search in together, each with the weight of its matches, e.g. { product.title: 3,
   * product.description: 1 }. A candidate may lack any of them.
   */
  readonly fields?: readonly KeyedOption<ColumnKind, number>[];
  /**
   * The source of word frequencies and mean lengths: candidates (all candidates of the request,
   * including filtered ones), or { file: … }, a file from `millrace text-stats`.
   */
  readonly statistics?: Statistics;
  /** The BM25 parameter k1: how much repeated occurrences of a word add. With 0, a word counts once. */
  readonly k1: number;
  /**
   * The BM25 parameter b: how much the length of a text lowers its score, from 0 (not at all) to 1
   * (fully).
   */
  readonly b: number;
  /** plural: English plurals match their singulars; none: only equal words match. */
  readonly stemming?: Stemming;
  readonly language?: Language;
  readonly language_from?: Input<'text'>;
  readonly stop_words: StopWords;
  readonly accents: Accents;
  readonly ngrams: number;
  readonly units: boolean;
  readonly synonyms?: ProjectFile;
}
