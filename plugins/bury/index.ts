import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { Bury } from './bury.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'bury',
  kind: 'rule',
  summary: 'Puts candidates that meet a condition below all others.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: ({ where }) => new Bury(where),
});
