import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject } from 'millrace/api';
import { Filter } from './filter.js';

interface FilterOptions {
  readonly keep: Input<'number'>;
  readonly absent: 'keep' | 'drop';
}

export const plugin = definePlugin<FilterOptions>({
  name: 'filter',
  kind: 'filter',
  summary: 'Takes candidates out of the ranking that do not meet a condition.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ keep, absent }) => new Filter(keep, absent),
});
