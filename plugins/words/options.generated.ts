// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

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

export const STEMMING = ['plural', 'none', 'language'] as const;
export type Stemming = (typeof STEMMING)[number];

export const STOP_WORDS = ['keep', 'drop'] as const;
export type StopWords = (typeof STOP_WORDS)[number];

export const ACCENTS = ['fold', 'keep'] as const;
export type Accents = (typeof ACCENTS)[number];

export interface Options {
  /** The text to search for, e.g. query.query. Only its first 16 words count. */
  readonly query: Input<'text'>;
  /**
   * The attributes to search in, each with the weight of its words, e.g. { product.title: 3,
   * product.description: 1 }: texts, lists of texts or references, whose ids are searched.
   */
  readonly fields: Readonly<Record<string, number>>;
  /** The most candidates to find. */
  readonly size: number;
  /**
   * A condition on attributes of the candidates: only those that meet it are found, e.g. product.stock >
   * 0 and product.country == user.country.
   */
  readonly where?: string;
  /**
   * true: a word also finds the compounds that it is a part of, and a compound its parts. By default
   * true for languages that write compounds as one word, such as german.
   */
  readonly compounds?: boolean;
  /** A file of synonyms, one rule a line: tv, television; or laptop => notebook. */
  readonly synonyms?: ProjectFile;
  /** The language of the texts, for stemming, stop words and boundaries of words, e.g. german. */
  readonly language?: Language;
  /**
   * language: the stemmer of the language; plural: English plurals match their singulars; none: only
   * equal words match. By default language if a language is given, otherwise plural.
   */
  readonly stemming?: Stemming;
  /** drop: the stop words of the language do not count, e.g. the and of; keep: they do. */
  readonly stop_words: StopWords;
  /** fold: é and e are one letter; keep: they differ. */
  readonly accents: Accents;
  /** true: amounts match in any unit, e.g. 1,5 l and 1500 ml. */
  readonly units: boolean;
  /** The BM25 parameter k1: how much repeated occurrences of a word add. With 0, a word counts once. */
  readonly k1: number;
  /**
   * The BM25 parameter b: how much the length of a text lowers its score, from 0 (not at all) to 1
   * (fully).
   */
  readonly b: number;
}
