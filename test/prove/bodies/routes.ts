/** A route of the shipped project that takes a body, and how a value gets into its body. */
export interface ProvedRoute {
  readonly path: string;
  /** Its limit of bytes. */
  readonly limit: number;
  /** A body whose list has these elements, with a field of the body's own beside it. */
  readonly body: (elements: readonly string[], extra?: string) => string;
  /** An element of the list that carries a value, under a name that is declared or not. */
  readonly element: (i: number, value: string, name?: string) => string;
  /** Names of attributes or features that are declared, where a value can stand. */
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
  {
    path: '/api/v1/entities/upload',
    limit: 12 * MB,
    body: (elements, extra) =>
      `{"entity_type":"product","entities":[${elements.join(',')}]${withExtra(extra)}}`,
    element: product,
    declared: ['title', 'categories', 'price', 'brand'],
  },
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
