// Compiled by `npm run test:wire` with what openapi-typescript makes of the OpenAPI document.
import type { components, paths } from './api.js';

type Schemas = components['schemas'];
type Body<P extends keyof paths> = paths[P] extends {
  post: { requestBody: { content: { 'application/json': infer B } } };
}
  ? B
  : never;

/** Nothing but the ids. */
export const minimal: Body<'/api/v1/find'> = { candidates: [{ product_id: 'p1' }] };
export const numbers: Body<'/api/v1/find'> = { candidates: [{ product_id: 7, surprise: true }], other: 1 };
export const explained: Body<'/api/v1/find/explain'> = minimal;
export const scored: Body<'/api/v1/risk'> = { order: { order_id: 'o1' } };
export const closed: Body<'/api/v1/closed'> = {
  candidates: [{ product_id: 'p1' }],
  user: { user_id: 'u1' },
  shop_id: 'b1',
};
// @ts-expect-error: a candidate needs its id
export const without: Body<'/api/v1/find'> = { candidates: [{}] };
export const refused: Body<'/api/v1/closed'> = {
  ...closed,
  // @ts-expect-error: the pipeline refuses what it does not declare
  candidates: [{ product_id: 'p1', surprise: 1 }],
};

export const upload: Body<'/api/v1/entities/upload'> = {
  entity_type: 'product',
  entities: [{ product_id: 'p1', price: 2, anything: ['else'] }],
};
export const push: Body<'/api/v1/features/push'> = { view: 'stats', rows: [{ product_id: 'p1', ctr: 0.1 }] };
export const wrongRow: Body<'/api/v1/features/push'> = {
  view: 'stats',
  // @ts-expect-error: a row has only what its view declares
  rows: [{ product_id: 'p1', cr: 0.1 }],
};
export const feedback: Body<'/api/v1/feedback'> = {
  request_id: 'r1',
  user: { user_id: 'u1' },
  events: [{ type: 'order', product: { product_id: 'p1' }, revenue: 2.5 }],
};
export const wrongEvent: Body<'/api/v1/feedback'> = {
  // @ts-expect-error: a click has no revenue
  events: [{ type: 'click', product: { product_id: 'p1' }, revenue: 2.5 }],
};

/** The type of an event says which fields it has. */
export function tell(event: Schemas['event']): string | number | null {
  switch (event.event_type) {
    case 'FEATURE':
      return event.event_data.feature_name;
    case 'MODEL':
      return event.event_data.model_version;
    case 'BUSINESS_LOGIC':
      return event.event_data.new_score;
    case 'CANDIDATE':
      return event.event_data.candidate_order;
    case 'IMPRESSION':
      return event.event_data.impression_order;
    case 'EXPERIMENTATION':
      return event.event_data.experiment_id;
    case 'CUSTOM':
      return typeof event.event_data['anything'] === 'string' ? event.event_data.entity_identifier : null;
    default:
      return event satisfies never;
  }
}
