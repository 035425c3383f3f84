import type { Mistake, Surface } from '../mistake.js';

const search = (what: string, body: string): Mistake => ({ what, request: { path: '/api/v1/search', body } });

export const REQUESTS: Surface = {
  title: 'Requests over HTTP',
  mistakes: [
    search('A body that is not JSON', '{ "candidates": [ }'),
    search('No candidates', '{}'),
    search('A candidate without an id', '{ "candidates": [{ "title": "tv" }] }'),
    search('An id under another name', '{ "candidates": [{ "id": "p1" }] }'),
    search('An id that is a list', '{ "candidates": [{ "product_id": ["p1"] }] }'),
    search('A number as a text', '{ "candidates": [{ "product_id": "p1", "price": "cheap" }] }'),
    search('A page that is not a number', '{ "candidates": [{ "product_id": "p1" }], "user_page": "two" }'),
    search('A text where an object is due', '{ "candidates": [{ "product_id": "p1" }], "query": "tv" }'),
    search('Ids where candidates are due', '{ "candidates": ["p1"] }'),
    search('A query that is a number', '{ "candidates": [{ "product_id": "p1" }], "query": 7 }'),
    {
      what: 'A misspelt field that is ignored',
      files: {
        'request.json':
          '{ "candidates": [{ "product_id": "p1", "serach_score": 2 }], "usr": { "user_id": "u1" } }\n',
      },
      run: 'rank search request.json',
    },
    search('A list instead of an object', '[]'),
    { what: 'A misspelt path', request: { path: '/api/v1/serach', body: '{}' } },
    { what: 'A wrong method', request: { method: 'GET', path: '/api/v1/search' } },
    { what: 'A body of another type', request: { path: '/api/v1/search', type: 'text/csv', body: 'p1,p2' } },
    {
      what: 'Entities of an unknown type',
      request: {
        path: '/api/v1/entities/upload',
        body: '{ "entities": [{ "product_id": "p1" }], "entity_type": "prodct" }',
      },
    },
    {
      what: 'A row of an unknown view',
      request: {
        path: '/api/v1/features/push',
        body: '{ "view": "product_stat", "rows": [{ "product_id": "p1", "ctr_30d": 0.1 }] }',
      },
    },
    {
      what: 'A row with a misspelt feature',
      request: {
        path: '/api/v1/features/push',
        body: '{ "view": "product_stats", "rows": [{ "product_id": "p1", "ctr_30": 0.1 }] }',
      },
    },
    {
      what: 'Feedback of an unknown kind',
      request: {
        path: '/api/v1/feedback',
        body: '{ "user": { "user_id": "u1" }, "events": [{ "type": "purchase", "event_id": "e1", "product": { "product_id": "p1" } }] }',
      },
    },
  ],
};
