import { entityOf, FEATURES, idOf, views } from './project.js';

/** The number of candidates of the ranking that runs concurrently. */
export const BESIDE = 24;

/** One kind of request, compared with a ranking. */
export interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: Buffer;
  /** The ranking over the same values. */
  readonly ranking: { readonly path: string; readonly body: Buffer };
  /** True if the goal applies to it. */
  readonly held?: true;
}

export function casesOf(count: number): Case[] {
  const ids = Array.from({ length: count }, (_, row) => idOf(row));
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const candidates = ids.map((product_id) => ({ product_id }));
  const ranking = (kind: string): Case['ranking'] => ({
    path: `/api/v1/${kind}`,
    body: json({ request_id: 'r', candidates, user_page_size: 10 }),
  });
  const read = (kind: string, name: string): Case => ({
    name,
    path: '/feature/get-online-features',
    body: json({
      features: views(kind).flatMap((view) => FEATURES.map((feature) => `${view}:${feature}`)),
      entities: { product_id: ids },
      full_feature_names: true,
    }),
    ranking: ranking(kind),
    held: true,
  });
  return [
    read('own', 'get-online-features'),
    read('feast', "the same, Feast's layout"),
    {
      name: 'entities/get',
      path: '/api/v1/entities/get',
      body: json({ entity_type: 'product', entity_ids: ids }),
      ranking: ranking('attributes'),
    },
    {
      name: 'entities/upload',
      path: '/api/v1/entities/upload',
      body: json({ entity_type: 'product', entities: ids.map((_, row) => entityOf(row)) }),
      ranking: ranking('attributes'),
    },
    {
      name: 'explain, page of all',
      path: '/api/v1/own/explain',
      body: json({ request_id: 'r', candidates, user_page_size: count }),
      ranking: ranking('own'),
    },
    {
      name: 'include_events',
      path: '/api/v1/own',
      body: json({ request_id: 'r', candidates, user_page_size: 10, include_events: true }),
      ranking: ranking('own'),
    },
  ];
}
