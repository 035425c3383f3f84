import { createRequire } from 'node:module';
import {
  analyzerText,
  type AnalyzerSettings,
  type BuildContext,
  definePlugin,
  type Input,
  type JsonObject,
  OptionError,
  type ProjectFile,
  stopWordsOf,
  tryEach,
} from 'millrace/api';
import { readTextStatistics, statisticsText } from './statistics.js';
import { readSynonyms } from './synonyms.js';
import { TextMatch, type SearchedField, type TextMatchSettings } from './text-match.js';

export {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  writeTextStatistics,
  type FieldTexts,
  type TextStatistics,
} from './statistics.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'text_match',
  kind: 'feature',
  summary:
    'How well texts of a candidate match the query: BM25, shares of the words found, phrase, proximity.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create(options, build) {
    const fields = searchedFields(options);
    const { query, k1, b, language_from: languageFrom, synonyms } = options;
    const analyzer = analyzerOf(options);
    return new TextMatch({
      query,
      fields,
      k1,
      b,
      analyzer,
      languageFrom,
      synonyms: synonyms && readSynonyms(synonyms, ['synonyms']),
      ...(await statisticsOf(options, analyzer, fields.length, build)),
    });
  },
});

function analyzerOf(options: Options): AnalyzerSettings {
  const { language, language_from: languageFrom, accents, ngrams, units, stop_words: stopWords } = options;
  const hasLanguage = language !== undefined || languageFrom !== undefined;
  const stemming = options.stemming ?? (hasLanguage ? 'language' : 'plural');
  const needs = 'add e.g. `language: german`, or `language_from: request.language`';
  if (stemming === 'language' && !hasLanguage)
    throw new OptionError(['stemming'], '`stemming: language` needs a language', needs);
  if (stopWords === 'drop' && !hasLanguage)
    throw new OptionError(['stop_words'], '`stop_words: drop` needs a language', needs);
  if (stopWords === 'drop' && language !== undefined && stopWordsOf(language) === undefined)
    throw new OptionError(['stop_words'], `there are no stop words of ${language}`, 'remove `stop_words`');
  if (ngrams === 1)
    throw new OptionError(['ngrams'], 'one letter says nothing about a word', 'use 3, or 2 for short words');
  return { language, stemming, stopWords, accents, ngrams, units };
}

function searchedFields({ field, fields }: Options): readonly SearchedField[] {
  if (field !== undefined && fields !== undefined) {
    throw new OptionError(
      ['fields'],
      '`field` and `fields` are both given',
      'move the field into `fields`',
      'key',
    );
  }
  if (fields !== undefined) {
    return tryEach(
      fields.map(({ input, value }) => () => ({
        input: searchable(input, ['fields', input.text], 'key'),
        weight: value,
      })),
    );
  }
  if (field !== undefined) return [{ input: searchable(field, ['field']), weight: 1 }];
  throw new OptionError([], '`field` is missing', 'add e.g. `field: product.title`');
}

function searchable(
  input: Input,
  path: readonly string[],
  part: 'key' | 'value' = 'value',
): Input<'text' | 'texts'> {
  if (isText(input)) return input;
  throw new OptionError(path, `\`${input.text}\` is neither a text nor a list of texts`, undefined, part);
}

function isText(input: Input): input is Input<'text'> | Input<'texts'> {
  return input.kind === 'text' || input.kind === 'texts';
}

type UsedStatistics = Pick<TextMatchSettings, 'statistics' | 'statisticsText'>;

const OF_CANDIDATES: UsedStatistics = { statistics: undefined };

/** The statistics of the step. */
async function statisticsOf(
  { statistics, language_from: languageFrom }: Options,
  analyzer: AnalyzerSettings,
  fields: number,
  build: BuildContext,
): Promise<UsedStatistics> {
  if (statistics === 'candidates') return OF_CANDIDATES;
  if (statistics !== undefined) {
    const path = ['statistics', 'file'];
    if (languageFrom !== undefined)
      throw new OptionError(
        path,
        'a file has the statistics of one language, but `language_from` has many',
        'remove `statistics`',
      );
    return fitting(statistics.file, path, analyzer, fields);
  }
  // A file of one language says nothing about the others.
  if (languageFrom !== undefined) return OF_CANDIDATES;
  const found = await build.findFile(`statistics/${build.name}.json`);
  return found === undefined ? OF_CANDIDATES : fitting(found, [], analyzer, fields);
}

function fitting(
  file: ProjectFile,
  path: readonly string[],
  analyzer: AnalyzerSettings,
  fields: number,
): UsedStatistics {
  const read = readTextStatistics(file, path);
  const [made, wanted] = [analyzerText(read.analyzer), analyzerText(analyzer)];
  if (made !== wanted) {
    throw new OptionError(
      path,
      `\`${file.path}\` was made with ${made}, but this step has ${wanted}`,
      'make the file again with the options of the step: `millrace text-stats PATH --from FILE --language … --stemming …`',
    );
  }
  if (read.meanLengths.length !== fields) {
    throw new OptionError(
      path,
      `\`${file.path}\` has statistics of ${read.meanLengths.length} fields, but this step searches ${fields}`,
    );
  }
  return { statistics: read, statisticsText: statisticsText(read, file.path) };
}
