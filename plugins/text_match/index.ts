import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject, OptionError, tryEach } from 'millrace/api';
import { readTextStatistics, type TextStatistics } from './statistics.js';
import { TextMatch, type SearchedField } from './text-match.js';

export {
  buildTextStatistics,
  writeTextStatistics,
  type FieldTexts,
  type TextStatistics,
} from './statistics.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'text_match',
  kind: 'feature',
  summary: 'How well texts of a candidate match the query: BM25, share of the words found, exact phrase.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options) {
    const fields = searchedFields(options);
    const { query, k1, b, stemming } = options;
    return new TextMatch({
      query,
      fields,
      k1,
      b,
      stemming,
      statistics: statisticsOf(options, fields.length),
    });
  },
});

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

function statisticsOf({ statistics, stemming }: Options, fields: number): TextStatistics | undefined {
  if (statistics === 'candidates') return undefined;
  const path = ['statistics', 'file'];
  const read = readTextStatistics(statistics.file, path);
  if (read.stemming !== stemming) {
    throw new OptionError(
      path,
      `\`${statistics.file.path}\` was made with stemming: ${read.stemming}, but this step has stemming: ${stemming}`,
    );
  }
  if (read.meanLengths.length !== fields) {
    throw new OptionError(
      path,
      `\`${statistics.file.path}\` has statistics of ${read.meanLengths.length} fields, but this step searches ${fields}`,
    );
  }
  return read;
}
