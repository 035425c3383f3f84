import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { RankWithin } from './rank-within.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'rank_within',
  kind: 'feature',
  summary:
    'Compares a number of each candidate with the others: rank, percentile, share, z-score, min-max, median.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ value, order, among, quantile }) => new RankWithin(value, order, among, quantile),
});
