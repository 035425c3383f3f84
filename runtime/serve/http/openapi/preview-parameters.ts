import type { Schema } from './types.js';

export const AT: Schema = {
  name: 'at',
  in: 'query',
  required: false,
  description:
    'A preview: dated rules of curation are looked up at this time, ISO 8601 or epoch milliseconds. Everything else is as it is now.',
  schema: { type: 'string', example: '2026-11-27T12:00:00Z' },
};

export const DRAFT: Schema = {
  name: 'draft',
  in: 'query',
  required: false,
  description:
    'A preview: the answer once the drafts of this name are published. With `draft` or `at`, the request needs the scope `preview`, and nothing is recorded or counted.',
  schema: { type: 'string', example: 'black_friday' },
};
