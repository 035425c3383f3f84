import { LANGUAGES, type Language } from './languages.js';

export const STEMMING = ['plural', 'none', 'language'] as const;
export type Stemming = (typeof STEMMING)[number];

/** How texts become tokens. Texts that are compared must have the same settings. */
export interface AnalyzerSettings {
  readonly language: Language | undefined;
  /** plural: English plurals match their singulars; language: by the stemmer of the language. */
  readonly stemming: Stemming;
  readonly stopWords: 'keep' | 'drop';
  readonly accents: 'fold' | 'keep';
  /** The length of the n-grams that words are cut into; 0: words stay whole. */
  readonly ngrams: number;
  /** Whether amounts are written in a base unit: 1,5 l and 1500 ml are one token. */
  readonly units: boolean;
}

/** Words that are folded, and nothing more. */
export const PLAIN: AnalyzerSettings = {
  language: undefined,
  stemming: 'none',
  stopWords: 'keep',
  accents: 'fold',
  ngrams: 0,
  units: false,
};

/** The settings as they are written in a statistics file: only those that differ from the plain ones. */
export function describeAnalyzer(settings: AnalyzerSettings): Record<string, string | number | boolean> {
  const { language, stemming, stopWords, accents, ngrams, units } = settings;
  return {
    ...(language === undefined ? {} : { language }),
    stemming,
    ...(stopWords === 'keep' ? {} : { stop_words: stopWords }),
    ...(accents === 'fold' ? {} : { accents }),
    ...(ngrams === 0 ? {} : { ngrams }),
    ...(units ? { units } : {}),
  };
}

/** One line: `language: german, stemming: language`. */
export function analyzerText(settings: AnalyzerSettings): string {
  return Object.entries(describeAnalyzer(settings))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');
}

/** Reads what `describeAnalyzer` made; undefined if it is something else. */
export function readAnalyzer(written: Readonly<Record<string, unknown>>): AnalyzerSettings | undefined {
  const {
    language,
    stemming,
    stop_words: stopWords = 'keep',
    accents = 'fold',
    ngrams = 0,
    units = false,
  } = written;
  const settings = {
    language: LANGUAGES.find((one) => one === language),
    stemming: STEMMING.find((one) => one === stemming),
    stopWords: (['keep', 'drop'] as const).find((one) => one === stopWords),
    accents: (['fold', 'keep'] as const).find((one) => one === accents),
  };
  const { stemming: kind, stopWords: stops, accents: marks } = settings;
  if (kind === undefined || stops === undefined || marks === undefined) return undefined;
  if (settings.language !== language || typeof ngrams !== 'number' || typeof units !== 'boolean')
    return undefined;
  return { language: settings.language, stemming: kind, stopWords: stops, accents: marks, ngrams, units };
}
