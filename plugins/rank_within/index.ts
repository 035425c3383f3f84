import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject } from 'millrace/api';
import { RankWithin, type Among, type Direction } from './rank-within.js';

interface RankWithinOptions {
  readonly value: Input<'number'>;
  readonly order: Direction;
  readonly among: Among;
}

export const plugin = definePlugin<RankWithinOptions>({
  name: 'rank_within',
  kind: 'feature',
  summary:
    "Where a candidate's number stands among the candidates: rank, percentile, share, z-score, min-max.",
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ value, order, among }) => new RankWithin(value, order, among),
});
