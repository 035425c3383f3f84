import { expect } from 'chai';
import { call, post } from './harness.js';
import { serveShippedProject } from './serve-project.js';

const PATH = '/feature/get-online-features';

describe('POST /feature/get-online-features', () => {
  it('gives what was pushed, what is not there, and what ranking would read', () =>
    serveShippedProject(async (url) => {
      const rows = [{ product_id: 'p1', ctr_30d: 0.12, orders_30d: 40, event_time: '2026-01-31T09:30:00Z' }];
      await post(`${url}/api/v1/features/push`, { view: 'product_stats', rows });
      const { status, json } = await post(url + PATH, {
        features: ['product_stats:ctr_30d'],
        entities: { product_id: ['p1', 'p2'] },
        full_feature_names: true,
      });
      expect(status).to.equal(200);
      expect(json).to.deep.equal({
        metadata: { feature_names: ['product_id', 'product_stats__ctr_30d'] },
        results: [
          {
            values: ['p1', 'p2'],
            statuses: ['PRESENT', 'PRESENT'],
            event_timestamps: ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
          },
          {
            values: [0.12, null],
            statuses: ['PRESENT', 'NOT_FOUND'],
            event_timestamps: ['2026-01-31T09:30:00Z', '1970-01-01T00:00:00Z'],
          },
        ],
      });
    }));

  it('answers mistakes as problem documents', () =>
    serveShippedProject(async (url) => {
      const cases: readonly (readonly [body: unknown, status: number, code: string])[] = [
        ['{', 400, 'malformed_json'],
        [{ features: ['nothing:here'], entities: {} }, 404, 'unknown_view'],
        [{ features: ['product_stats:nothing'], entities: {} }, 422, 'invalid_body'],
        [{ features: ['product_stats:ctr_30d'], entities: { product_id: [null] } }, 422, 'invalid_body'],
        [
          { features: ['product_stats:ctr_30d'], entities: { product_id: ['x'.repeat(2 ** 20)] } },
          413,
          'body_too_large',
        ],
      ];
      for (const [body, status, code] of cases) {
        const answer = await post(url + PATH, body);
        expect(answer.status, code).to.equal(status);
        expect(answer.json?.code).to.equal(code);
      }
      expect((await call(url + PATH)).status).to.equal(405);
    }));
});
