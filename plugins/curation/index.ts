import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { Curation } from './curation.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'curation',
  kind: 'rule',
  summary: 'Applies the dated rules of a merchandiser: pin, hide, boost, bury, sponsor and banner.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ list, query, category, reads = [], bring }, build) {
    return new Curation(build.needCuration({ list, query, category, reads }), bring);
  },
});
