import { expect } from 'chai';
import { call, post, type Answer } from './harness.js';
import { serveProject } from './serve-project.js';
import { withFiles } from '../support/temporary-files.js';

const PATH = '/api/v1/features/delete';
/** When serveProject says it is. */
const NOW = Date.parse('2026-01-31T12:00:00Z');

const PROJECT = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nttl: 7d\nfeatures: { clicks: int }\n',
  'pipelines/ranking.yaml':
    'pipeline: ranking\nrank: product\nfeatures: [stats]\ncomponents:\n' +
    '  - use: score\n    with: { value: "coalesce(stats:clicks, -1)" }\n',
};

type Send = (path: string, body: unknown) => Promise<Answer>;

function serve(use: (send: Send, url: string) => Promise<void>): Promise<void> {
  return withFiles(PROJECT, (root) =>
    serveProject(root, (url) => use((path, body) => post(url + path, body), url)),
  );
}

async function read(send: Send): Promise<unknown> {
  const online = await send('/feature/get-online-features', {
    features: ['stats:clicks'],
    entities: { product_id: ['p'] },
  });
  const [, clicks] = online.json?.results as { values: unknown[]; statuses: string[] }[];
  const ranking = await send('/api/v1/ranking', { candidates: [{ product_id: 'p' }] });
  const [ranked] = ranking.json?.ranked_candidates as { ranked_score: number }[];
  return [clicks?.values[0], clicks?.statuses[0], ranked?.ranked_score];
}

describe('POST /api/v1/features/delete', () => {
  it('deletes a row, which then reads as one that never was', () =>
    serve(async (send, url) => {
      const row = { product_id: 'p', clicks: 3, event_time: NOW - 1000 };
      await send('/api/v1/features/push', { view: 'stats', rows: [row] });
      expect(await read(send)).to.deep.equal([3, 'PRESENT', 3]);
      const { status, json } = await send(PATH, { view: 'stats', rows: [{ product_id: 'p' }] });
      expect([status, json]).to.deep.equal([200, { view: 'stats', deleted: 1, older: 0 }]);
      expect(await read(send)).to.deep.equal([null, 'NOT_FOUND', -1]);
      const late = await send('/api/v1/features/push', { view: 'stats', rows: [row] });
      expect(late.json).to.deep.equal({ view: 'stats', stored: 0, older: 1, expired: 0 });
      expect(await read(send)).to.deep.equal([null, 'NOT_FOUND', -1]);
      const { text } = await call(`${url}/metrics`);
      expect(text).to.contain(`route="${PATH}"`);
      expect(text).to.contain(
        'millrace_feature_values_total{view="stats",status="missing_feature",cause=""} 4',
      );
    }));

  it('answers mistakes as problem documents', () =>
    serve(async (send, url) => {
      const seconds = { product_id: 'p', event_time: NOW / 1000 };
      for (const [body, status, code, pointer] of [
        [{ view: 'stat', rows: [] }, 404, 'unknown_view', undefined],
        [{ view: 'stats', rows: [], increment: true }, 422, 'invalid_body', '/increment'],
        [{ view: 'stats' }, 422, 'invalid_body', '/rows'],
        [{ view: 'stats', rows: [{}] }, 422, 'invalid_body', '/rows/0'],
        [{ view: 'stats', rows: [seconds] }, 422, 'invalid_body', '/rows/0/event_time'],
        ['{', 400, 'malformed_json', undefined],
      ] as const) {
        const { status: found, json } = await send(PATH, body);
        const [violation] = (json?.errors ?? []) as { pointer: string }[];
        expect([found, json?.code, violation?.pointer]).to.deep.equal([status, code, pointer]);
      }
      expect((await call(url + PATH)).status).to.equal(405);
    }));
});
