// `npm run generate` writes this file from options.schema.json.
import type { ColumnKind, Input, KeyedOption, ProjectFile } from 'millrace/api';

export interface FieldsEntryAnalyzer {
  /**
   * language: the stemmer of the language; plural: English plurals match their singulars; none: only
   * equal words match.
   */
  readonly stemming?: Stemming;
  /** The language of this text. It is the same for all requests. */
  readonly language?: Language;
  /** drop: the stop words of the language do not count; keep: they do. */
  readonly stop_words?: StopWords;
  /** fold: é and e are one letter; keep: they differ. */
  readonly accents?: Accents;
  /** Cut words into runs of so many letters. 0: words stay whole. */
  readonly ngrams?: number;
  /** true: amounts match in any unit. */
  readonly units?: boolean;
}

export type FieldsEntry =
  | number
  | {
      /** The weight of matches in this text. */
      readonly weight: number;
      /** How this text becomes words. An option that is left out here is that of the step. */
      readonly analyzer?: FieldsEntryAnalyzer;
    };

export type Statistics =
  | 'candidates'
  | {
      /** The path in the project of the file. */
      readonly file: ProjectFile;
    };

export const STEMMING = ['plural', 'none', 'language'] as const;
export type Stemming = (typeof STEMMING)[number];

export const LANGUAGE = [
  'arabic',
  'armenian',
  'chinese',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'greek',
  'hungarian',
  'indonesian',
  'irish',
  'italian',
  'japanese',
  'korean',
  'lithuanian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'serbian',
  'spanish',
  'swedish',
  'tamil',
  'thai',
  'turkish',
] as const;
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
   * product.description: 1 }. A text can also have an analyzer of its own: { weight: 2, analyzer: {
   * stemming: none } }. A candidate may lack any of them.
   */
  readonly fields?: readonly KeyedOption<ColumnKind, FieldsEntry>[];
  /**
   * The source of word frequencies and mean lengths: { file: … }, a file from `millrace text-stats`; or
   * candidates (all candidates of the request, including filtered ones). By default the file
   * `statistics/<pipeline>/<as>.json`; otherwise `statistics/<as>.json`, unless it says that it counts
   * other texts; otherwise, for a step with one field, the file that has its name, e.g.
   * statistics/product.title.json, if it was made with the analyzer of the step; otherwise candidates.
   */
  readonly statistics?: Statistics;
  /** The BM25 parameter k1: how much repeated occurrences of a word add. With 0, a word counts once. */
  readonly k1: number;
  /**
   * The BM25 parameter b: how much the length of a text lowers its score, from 0 (not at all) to 1
   * (fully).
   */
  readonly b: number;
  /**
   * language: the stemmer of the language; plural: English plurals match their singulars; none: only
   * equal words match. By default language if a language is given, otherwise plural.
   */
  readonly stemming?: Stemming;
  /** The language of the texts, for stemming, stop words and boundaries of words, e.g. german. */
  readonly language?: Language;
  /**
   * A text of the request that names the language, e.g. request.language: german, de or de-AT. Without
   * it, and for other names, the step uses language.
   */
  readonly language_from?: Input<'text'>;
  /** drop: the stop words of the language do not count, e.g. the and of; keep: they do. */
  readonly stop_words: StopWords;
  /** fold: é and e are one letter; keep: they differ. */
  readonly accents: Accents;
  /**
   * Cut words into runs of so many letters, so that parts of words and misspelt words match. 0: words
   * stay whole.
   */
  readonly ngrams: number;
  /** true: amounts match in any unit, e.g. 1,5 l and 1500 ml. */
  readonly units: boolean;
  /** A file of synonyms, one rule a line: tv, television; or laptop => notebook. */
  readonly synonyms?: ProjectFile;
}
