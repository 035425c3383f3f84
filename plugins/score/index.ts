import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { Score } from './score.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'score',
  kind: 'rule',
  summary: 'Sets the score of every candidate to the value of an expression.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ value }) => new Score(value),
});
