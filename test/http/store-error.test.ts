import { expect } from 'chai';
import type { ErrorCode } from '../../runtime/ground/api/error-codes.js';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { post } from './harness.js';

/** A store whose reads can be made to fail, or to hang. */
class BrokenStore extends MemoryStore {
  trouble: ErrorCode | 'hangs' | undefined;

  override read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    if (this.trouble === undefined) return super.read(keys);
    if (this.trouble === 'hangs') return new Promise(() => undefined);
    return Promise.reject(new MillraceError(this.trouble, 'on purpose'));
  }
}

const pipeline = (name: string, more: string): string => `pipeline: ${name}
rank: product
limits: { time: 200ms }
${more}features: [stats]
components:
  - use: filter
    with: { keep: product.price < 3 }
  - use: score
    with: { value: product.price + stats:clicks }
`;

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nttl: 1d\nfeatures: { clicks: { type: float, default: 0 } }\n',
  'pipelines/strict.yaml': pipeline('strict', ''),
  'pipelines/loose.yaml': pipeline('loose', 'on_store_error: unranked\n'),
};
const candidates = ['c', 'a', 'b'].map((product_id) => ({ product_id }));

describe('a ranking whose store cannot be read', () => {
  const serve = (use: (url: string, store: BrokenStore) => Promise<void>): Promise<void> =>
    withFiles(FILES, async (root) => {
      const store = new BrokenStore();
      const settings = loadSettings({ LOG_LEVEL: 'silent', MILLRACE_RESIDENT: 'off' }, { project: root });
      const app = await createApp(settings, { store });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      const url = `http://127.0.0.1:${server.port}`;
      try {
        await post(`${url}/api/v1/entities/upload`, {
          entity_type: 'product',
          entities: [1, 2, 3].map((price, i) => ({ product_id: 'abc'[i], price })),
        });
        await use(url, store);
      } finally {
        await server.close(0);
        await app.close();
      }
    });
  const ranked = (json: Record<string, unknown> | undefined): unknown =>
    (json?.['ranked_candidates'] as { candidate_id: string; ranked_score: number }[]).map(
      ({ candidate_id, ranked_score }) => [candidate_id, ranked_score],
    );
  const IN_ORDER = [
    ['c', 0],
    ['a', 0],
    ['b', 0],
  ];

  it('fails with the code of the failure', () =>
    serve(async (url, store) => {
      for (const code of ['store_unavailable', 'store_loading'] as const) {
        store.trouble = code;
        const answer = await post(`${url}/api/v1/strict`, { candidates });
        expect([answer.status, answer.json?.['code']]).to.deep.equal([503, code]);
        expect(answer.headers.get('retry-after')).to.equal('1');
      }
    }));

  it('is answered in the order sent with on_store_error: unranked, and says so everywhere', () =>
    serve(async (url, store) => {
      const whole = await post(`${url}/api/v1/loose`, { candidates });
      expect(ranked(whole.json)).to.deep.equal([
        ['b', 2],
        ['a', 1],
      ]);
      expect(whole.headers.get('millrace-degraded')).to.equal(null);

      store.trouble = 'store_cluster_down';
      const answer = await post(`${url}/api/v1/loose`, { candidates, include_events: true });
      expect(answer.status, answer.text).to.equal(200);
      expect(ranked(answer.json)).to.deep.equal(IN_ORDER);
      expect(answer.headers.get('millrace-degraded')).to.equal('unranked=store_cluster_down');
      const events = answer.json?.['events'] as { degraded?: string; event_type: string }[];
      for (const { degraded } of events) expect(degraded).to.equal('unranked=store_cluster_down');
      expect(events.filter(({ event_type }) => event_type === 'IMPRESSION')).to.have.length(3);

      const { json } = await post(`${url}/api/v1/loose/explain`, { candidates });
      expect(json?.['degraded']).to.deep.equal([{ cause: 'unranked', value: 'store_cluster_down' }]);
      const steps = json?.['steps'] as { outcome: string; reason: string }[];
      for (const { outcome, reason } of steps)
        expect([outcome, reason]).to.deep.equal(['not_asked_for', 'the store could not be read']);
      const [first] = json?.['page'] as { values: Record<string, { status: string }> }[];
      expect(first?.values['product.price']?.status).to.equal('failed');

      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).to.contain('millrace_pipeline_degraded_total{pipeline="loose",cause="unranked"} 1');
      store.trouble = undefined;
      expect(ranked((await post(`${url}/api/v1/loose`, { candidates })).json)).to.deep.equal([
        ['b', 2],
        ['a', 1],
      ]);
    }));

  it('is answered within its limit where the store is silent', () =>
    serve(async (url, store) => {
      store.trouble = 'hangs';
      for (let i = 0; i < 3; i++) {
        const began = performance.now();
        const answer = await post(`${url}/api/v1/loose`, { candidates });
        expect([answer.status, answer.headers.get('millrace-degraded')]).to.deep.equal([
          200,
          'unranked=store_unavailable',
        ]);
        expect(performance.now() - began).to.be.within(150, 250);
      }
      expect((await post(`${url}/api/v1/strict`, { candidates })).json?.['code']).to.equal(
        'deadline_exceeded',
      );
    }));

  it('fails all the same where the service itself is overloaded', () =>
    serve(async (url, store) => {
      store.trouble = 'store_overloaded';
      expect((await post(`${url}/api/v1/loose`, { candidates })).json?.['code']).to.equal('store_overloaded');
    }));
});
