import type { PAGE_BODY } from '../../../state/index/export/scan-request.js';
import type { Schema } from './types.js';

/** What the document says of the fields that choose the page. */
export const PAGE_PARTS: Readonly<Record<keyof typeof PAGE_BODY, Schema>> = {
  cursor: { description: 'Of the page before; none for the first page.' },
  limit: { description: 'About how many keys the store lists for this page; 200 by default.' },
};

/** The schema of a scan's answer. @param list the field that holds the records */
export function scanAnswer(field: string, list: string, changed: string): Schema {
  return {
    type: 'object',
    required: [field, list, 'unreadable', 'changed', 'cursor'],
    properties: {
      [field]: { type: 'string' },
      [list]: { type: 'array', items: { type: 'object', additionalProperties: true } },
      unreadable: {
        type: 'array',
        items: { type: 'string' },
        description: 'Ids of records that are damaged, or whose layout the store does not have.',
      },
      changed: { type: 'integer', description: changed },
      cursor: { type: ['string', 'null'], description: 'Of the next page; null on the last page.' },
    },
  };
}
