import { createRequire } from 'node:module';
import { definePlugin, readSynonyms, type JsonObject } from 'millrace/api';
import { fieldGroups } from './fields.js';
import type { Options } from './options.generated.js';
import { TextMatch } from './text-match.js';
import { adviceOn, statisticsOf } from './used-statistics.js';

export { followsRequest, ownFile } from './used-statistics.js';
export { fieldGroups, type FieldGroup } from './fields.js';
export type { Options as TextMatchOptions } from './options.generated.js';
export {
  buildTextStatistics,
  DEFAULT_ANALYZER,
  documentsIn,
  writeTextStatistics,
  type FieldTexts,
  type TextStatistics,
} from './statistics.js';

export const plugin = definePlugin<Options>({
  name: 'text_match',
  kind: 'feature',
  summary:
    'How well texts of a candidate match the query: BM25, shares of the words found, phrase, proximity.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  async create(options, build) {
    const { query, k1, b, synonyms } = options;
    const groups = fieldGroups(options);
    const statistics = await statisticsOf(options, groups, build);
    return new TextMatch({
      query,
      groups,
      k1,
      b,
      synonyms: synonyms && readSynonyms(synonyms, ['synonyms']),
      statistics,
      advice: adviceOn(options, groups, statistics, build),
    });
  },
});
