import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, openJsonSearch } from 'millrace/api';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'http_search',
  kind: 'retriever',
  summary: 'Asks a search engine that takes and answers JSON over HTTP, such as Typesense.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: (options, build) => openJsonSearch(options, build),
});
