import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { Filter } from './filter.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'filter',
  kind: 'filter',
  summary: 'Removes candidates that do not meet a condition.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ keep, absent }) => new Filter(keep, absent),
});
