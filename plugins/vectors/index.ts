import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import type { Options } from './options.generated.js';
import { Vectors } from './vectors.js';

export const plugin = definePlugin<Options>({
  name: 'vectors',
  kind: 'retriever',
  summary: 'Finds the entities with the nearest vectors, in process: an exact scan of up to 100,000 × 384.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: (options, build) => new Vectors(options, build),
});
