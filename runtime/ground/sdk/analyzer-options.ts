import { OptionError } from '../api/option-error.js';
import type { AnalyzerSettings } from '../text/analyzer-settings.js';
import { stopWordsOf } from '../text/languages.js';

/** The options that say how texts become words. */
interface AnalyzerOptions extends Partial<Omit<AnalyzerSettings, 'stopWords'>> {
  readonly stop_words?: AnalyzerSettings['stopWords'];
  /** Names the language of each request. */
  readonly language_from?: unknown;
}

/**
 * The analyzer of a step with such options.
 * @param at the path of an option
 * @throws OptionError
 */
export function analyzerOf(
  options: AnalyzerOptions,
  at: (option: string) => readonly string[],
): AnalyzerSettings {
  const { language, language_from: languageFrom } = options;
  const { accents = 'fold', ngrams = 0, units = false, stop_words: stopWords = 'keep' } = options;
  const hasLanguage = language !== undefined || languageFrom !== undefined;
  const stemming = options.stemming ?? (hasLanguage ? 'language' : 'plural');
  const needs = 'add e.g. `language: german`, or `language_from: request.language`';
  if (stemming === 'language' && !hasLanguage)
    throw new OptionError(at('stemming'), '`stemming: language` needs a language', needs);
  if (stopWords === 'drop' && !hasLanguage)
    throw new OptionError(at('stop_words'), '`stop_words: drop` needs a language', needs);
  if (stopWords === 'drop' && language !== undefined && stopWordsOf(language) === undefined) {
    const [path, help] = [at('stop_words'), 'remove `stop_words`'];
    const inherits = path.at(-1) !== 'stop_words';
    throw new OptionError(
      path,
      `there are no stop words of ${language}`,
      inherits ? 'the step drops them: add `stop_words: keep` to this analyzer' : help,
    );
  }
  if (ngrams === 1)
    throw new OptionError(
      at('ngrams'),
      'one letter says nothing about a word',
      'use 3, or 2 for short words',
    );
  return { language, stemming, stopWords, accents, ngrams, units };
}
