import { STAGES } from '../../../request/pipeline/stages.js';
import type { Explanation } from '../../../request/pipeline/explain/explanation.js';

/**
 * A small explanation, for the reference. Without it, the sample would show every field of the schema under invented
 * names.
 */
export const EXPLANATION_EXAMPLE: Explanation = {
  request_id: 'request-1',
  run_id: 'b4d71463-f681-44f2-921e-ec27cf554fde',
  pipeline: 'ranking',
  route: '/api/v1/ranking',
  candidates: { sent: 2, duplicates: { count: 0, ids: [] }, left: 1 },
  params: { w_popularity: 0.3 },
  degraded: [],
  stages: STAGES.map(({ name }) => ({ stage: name, ms: 0.25 })),
  store: { round_trips: 1, keys_read: 3 },
  outside: { round_trips: 0, keys_read: 0 },
  unknown_fields: [],
  features: [{ view: 'product_stats', status: 'present', values: 2 }],
  steps: [
    {
      step: 1,
      use: 'filter',
      as: 'filter',
      kind: 'filter',
      outcome: 'ran',
      reads: ['product.number_in_stock'],
      reason: 'not: product.number_in_stock > 0',
      removed: { count: 1, ids: ['product-2'] },
    },
    {
      step: 2,
      use: 'score',
      as: 'score',
      kind: 'rule',
      outcome: 'ran',
      reads: ['product_stats:ctr_30d'],
      applied: 1,
      skipped: 0,
    },
  ],
  request: { 'query.query': { value: 'red shoe', status: 'present' } },
  page: [
    {
      candidate_id: 'product-1',
      place: 1,
      ranked_score: 0.042,
      score: 0.042,
      changes: [{ step: 2, as: 'score', before: 0, after: 0.042 }],
      values: {
        'product.number_in_stock': { value: 3, status: 'present' },
        'product_stats:ctr_30d': { value: 0.042, status: 'present' },
        'product.rating': { value: null, status: 'absent' },
      },
    },
  ],
  answer: { ranked_candidates: [{ candidate_id: 'product-1', ranked_score: 0.042 }] },
};
