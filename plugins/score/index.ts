import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject } from 'millrace/api';
import { Score } from './score.js';

interface ScoreOptions {
  readonly value: Input<'number'>;
}

export const plugin = definePlugin<ScoreOptions>({
  name: 'score',
  kind: 'rule',
  summary: 'Sets the score of every candidate to the value of an expression.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ value }) => new Score(value),
});
