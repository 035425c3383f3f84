import { expect } from 'chai';
import { Agent, request } from 'node:http';
import { call, post } from './harness.js';
import { withFiles } from '../support/temporary-files.js';
import { serveProject } from './serve-project.js';

/** Answers that are written in turns of the event loop. */
describe('large answers', () => {
  const files = {
    'schemas/entities/product.yaml':
      'entity: product\nextends: ProductEntity\nattributes: { title: string }\n',
    'pipelines/ranking.yaml': `pipeline: ranking
rank: product
limits: { time: 30s }
components:
  - use: score
    with: { value: 'if(product.title == "Grüße", 2, 1)' }
`,
  };
  const serve = (use: (url: string) => Promise<void>): Promise<void> =>
    withFiles(files, (root) => serveProject(root, use));
  const ids = Array.from({ length: 1000 }, (_, i) => `p${i}`);
  const entities = ids.map((product_id) => ({ product_id, title: 'Grüße', text: 'x'.repeat(4000) }));

  it('are whole, as long as they say, and what was uploaded', () =>
    serve(async (url) => {
      await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities });
      const { status, json } = await post(`${url}/api/v1/entities/get`, {
        entity_type: 'product',
        entity_ids: ids,
      });
      expect(status).to.equal(200);
      expect(Object.values(json?.entities as object)).to.deep.equal(entities);

      const candidates = ids.map((product_id) => ({ product_id }));
      const ranked = await fetch(`${url}/api/v1/ranking`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ candidates, include_events: true }),
      });
      const text = await ranked.text();
      expect(Number(ranked.headers.get('content-length'))).to.equal(Buffer.byteLength(text));
      const { events } = JSON.parse(text) as { events: readonly { readonly event_type: string }[] };
      expect(events.filter((one) => one.event_type === 'CANDIDATE')).to.have.length(1000);
    }));

  it('are given up when their client leaves, and the next request is answered', () =>
    serve(async (url) => {
      await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities });
      const agent = new Agent({ keepAlive: false });
      const headers = { 'content-type': 'application/json' };
      for (const delay of [0, 5, 20]) {
        const leaving = request(`${url}/api/v1/entities/get`, { method: 'POST', headers, agent });
        leaving.on('error', () => undefined);
        leaving.end(JSON.stringify({ entity_type: 'product', entity_ids: ids }));
        await new Promise((resolve) => setTimeout(resolve, delay));
        leaving.destroy();
      }
      expect((await call(`${url}/healthz`)).status).to.equal(200);
    }));
});
