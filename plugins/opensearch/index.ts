import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, openJsonSearch, OptionError } from 'millrace/api';
import { bodyOf, HitFeatures } from './hit-features.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'opensearch',
  kind: 'retriever',
  summary: 'Asks OpenSearch or Elasticsearch. Its named queries and logged features become values.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ url, index, ...options }, build) {
    if (!/^[a-z0-9*][^\s/?#A-Z]*$/.test(index))
      throw new OptionError(['index'], `\`${index}\` names no index`, 'write its name in lower case');
    if (/[?#]/.test(url))
      throw new OptionError(['url'], 'the address has a query', 'write the address of the cluster alone');
    const scores = Object.keys(options.queries).length > 0 ? '?include_named_queries_score=true' : '';
    const search = {
      ...options,
      url: `${url.replace(/\/+$/, '')}/${encodeURIComponent(index)}/_search${scores}`,
      hits: 'hits.hits',
      id: '_id',
      outputs: { score: '_score' },
      partial: ['timed_out', '_shards.failed'],
    };
    return openJsonSearch(search, build, {
      complete: (body, place) => bodyOf(body, options, place),
      numbers: new HitFeatures(options),
    });
  },
});
