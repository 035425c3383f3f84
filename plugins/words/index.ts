import { createRequire } from 'node:module';
import { analyzerOf, definePlugin, joinsWords, readSynonyms, type JsonObject } from 'millrace/api';
import type { Options } from './options.generated.js';
import { Words } from './words.js';

export const plugin = definePlugin<Options>({
  name: 'words',
  kind: 'retriever',
  summary: 'Finds entities by their words, in process: BM25F over an index of up to 200,000 entities.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const { query, fields, size, where, k1, b, synonyms, compounds = joinsWords(options.language) } = options;
    const analyzer = analyzerOf(options, (name) => [name]);
    return new Words(
      {
        query,
        fields: new Map(Object.entries(fields)),
        size,
        where,
        scoring: { k1, b, weights: Object.values(fields) },
        analyzer,
        synonyms: synonyms && readSynonyms(synonyms, ['synonyms']),
        compounds,
      },
      build,
    );
  },
});
