import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject } from 'millrace/api';
import { Bury } from './bury.js';

interface BuryOptions {
  readonly where: Input<'number'>;
}

export const plugin = definePlugin<BuryOptions>({
  name: 'bury',
  kind: 'rule',
  summary: 'Puts candidates that meet a condition below all others.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ where }) => new Bury(where),
});
