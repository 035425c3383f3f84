/** Texts to tokens, the same for steps, statistics, expressions and keys. */
export { Analyzer, ANY_START } from './analyzer.js';
export {
  analyzerText,
  describeAnalyzer,
  PLAIN,
  readAnalyzer,
  STEMMING,
  type AnalyzerSettings,
  type Stemming,
} from './analyzer-settings.js';
export { joinsWords, LANGUAGES, languageOf, stopWordsOf, type Language } from './languages.js';
export {
  distinctTokens,
  editDistance,
  jaccard,
  overlapWith,
  remembering,
  wordCount,
  wordsOf,
} from './comparisons.js';
export { contains, containing } from './containing.js';
export { firstQuantity, UNIT_NAMES } from './quantities.js';
export { PORTION, portions, type Reading } from './reading.js';
export { termMakers, type TermMakers } from './term-makers.js';
export { ByCode } from './by-code.js';
export { TokenLists } from './token-lists.js';
export { LONGEST_TOKEN, type Token } from './token.js';
