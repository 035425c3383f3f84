/** A route of the shipped project that accepts a body, and functions that put a value into the body. */
export interface ProvedRoute {
  readonly path: string;
  /** Maximum size of a body, in bytes. */
  readonly limit: number;
  /** Builds a body whose list has these elements. `extra` is the value of an undeclared field of the body itself. */
  readonly body: (elements: readonly string[], extra?: string) => string;
  /** Builds an element of the list that carries a value under a declared or undeclared name. */
  readonly element: (i: number, value: string, name?: string) => string;
  /** The names of declared attributes or features that can carry a value. */
  readonly declared: readonly string[];
}

const MB = 1024 * 1024;
const withExtra = (extra: string | undefined): string => (extra === undefined ? '' : `,"extra":${extra}`);
const product = (i: number, value: string, name = 'extra'): string =>
  `{"product_id":"p${i}","${name}":${value}}`;
const id = (i: number, value: string): string => (i % 2 ? `"p${i}"` : value);

const ranking = (path: string): ProvedRoute => ({
  path,
  limit: 2 * MB,
  body: (elements, extra) =>
    `{"user":{"user_id":"u"},"query":{"query":"red shoe"},"candidates":[${elements.join(',')}]${withExtra(extra)}}`,
  element: product,
  declared: ['title', 'categories', 'price', 'brand'],
});

const entities = (path: string): ProvedRoute => ({
  path,
  limit: 12 * MB,
  body: (elements, extra) =>
    `{"entity_type":"product","create":true,"entities":[${elements.join(',')}]${withExtra(extra)}}`,
  element: product,
  declared: ['title', 'categories', 'price', 'brand'],
});

const ids = (path: string): ProvedRoute => ({
  path,
  limit: MB,
  body: (elements, extra) =>
    `{"entity_type":"product","entity_ids":[${elements.join(',')}]${withExtra(extra)}}`,
  element: id,
  declared: [],
});

const rows = (path: string, limit: number, declared: readonly string[]): ProvedRoute => ({
  path,
  limit,
  body: (elements, extra) => `{"view":"product_stats","rows":[${elements.join(',')}]${withExtra(extra)}}`,
  element: product,
  declared,
});

export const ROUTES: readonly ProvedRoute[] = [
  ranking('/api/v1/ranking'),
  ranking('/api/v1/ranking/explain'),
  entities('/api/v1/entities/upload'),
  entities('/api/v1/entities/update'),
  ids('/api/v1/entities/get'),
  ids('/api/v1/entities/delete'),
  rows('/api/v1/features/push', 12 * MB, ['orders_30d', 'ctr_30d']),
  rows('/api/v1/features/delete', MB, []),
  {
    path: '/api/v1/feedback',
    limit: MB,
    body: (elements, extra) =>
      `{"request_id":"r","user":{"user_id":"u"},"events":[${elements.join(',')}]${withExtra(extra)}}`,
    element: (i, value, name = 'extra') =>
      `{"type":"click","product":{"product_id":"p${i}","${name}":${value}}}`,
    declared: ['title', 'categories'],
  },
  {
    path: '/feature/get-online-features',
    limit: MB,
    body: (elements, extra) =>
      `{"features":["product_stats:ctr_30d"],"entities":{"product_id":[${elements.join(',')}]}${withExtra(extra)}}`,
    element: id,
    declared: [],
  },
];
