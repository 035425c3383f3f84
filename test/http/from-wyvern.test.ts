import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { exchangesOf } from '../support/exchanges.js';
import { MemoryStore } from '../support/memory-store.js';
import { pluginFiles } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post } from './harness.js';
import { serveProject, serveShippedProject } from './serve-project.js';

const PAGE = readFileSync(repositoryPath('docs', 'from-wyvern.md'), 'utf8');

/** The first column of the table of differences. */
const ROWS = (PAGE.split('<!-- differences -->')[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split(' | ')[0]?.replace(/^\| /, '').trim() ?? '');

const pipeline = (name: string, components: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(query) }
features: [product_stats, brand_stats: brand_stats(product.brand)]
page: { size: 24, max_size: 100 }
components:
${components}`;

const SCORE = '  - { use: score, with: { value: "product.price" } }\n';
const PROJECT = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, label: string, on_sale: bool, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, fame: float }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { heat: float, tags: list(string), note: string }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { heat: float }\n',
  ...pluginFiles(
    'no_model',
    'model',
    `return { outputs: { score: 'number' }, compute() { throw new Error('no model today'); } };`,
  ),
  'pipelines/ranking.yaml': pipeline(
    'ranking',
    `${SCORE}  - use: boost
    with: { add: "0 * coalesce(product_stats:heat, brand_stats:heat, 0) + 0 * if(known(product.label) and known(product.on_sale) and known(product.brand.fame) and known(product.brand.name) and known(product_stats:note) and count(product_stats:tags) >= 0, 1, 0)" }
`,
  ),
  'pipelines/by_features.yaml': pipeline(
    'by_features',
    '  - { use: score, with: { value: "product_stats:heat - brand_stats:heat" } }\n',
  ),
  'pipelines/by_label.yaml': pipeline(
    'by_label',
    `  - { use: score, with: { value: 'if(product.label == "", 1, 0) + if(product.on_sale, 10, 0) + coalesce(product.price, 100)' } }\n`,
  ),
  'pipelines/by_brand.yaml': pipeline(
    'by_brand',
    `  - { use: score, with: { value: 'if(product.brand.name == "sent", 1, 0) + product.brand.fame' } }\n`,
  ),
  'pipelines/pinned.yaml': pipeline('pinned', `${SCORE}  - { use: pin, with: { positions: { 1: p2 } } }\n`),
  'pipelines/raised.yaml': pipeline(
    'raised',
    `${SCORE}  - { use: boost, with: { where: 'product.label == "x"', multiply: 2 } }\n`,
  ),
  'pipelines/modelled.yaml': pipeline(
    'modelled',
    `${SCORE}  - { use: no_model, as: deep, on_error: skip }\n  - { use: score, with: { value: "deep:score" } }\n`,
  ),
};

/** A request as clients of Wyvern send it. */
const request = (candidates: readonly object[], more: object = {}): object => ({
  request_id: 'r1',
  query: { query: 'candle' },
  candidates,
  user_page_size: Math.max(1, Math.min(candidates.length, 100)),
  user_page: 0,
  candidate_page_size: candidates.length,
  candidate_page: 0,
  ...more,
});

const products = (count: number): readonly { product_id: string; price: number }[] =>
  Array.from({ length: count }, (_, i) => ({ product_id: `p${i + 1}`, price: -i }));

interface Client {
  readonly send: typeof post;
  /** The ids of a page, best first. */
  readonly ids: (body: object, route?: string) => Promise<readonly string[]>;
  readonly scores: (body: object, route?: string) => Promise<Readonly<Record<string, number>>>;
  /** The pointers and codes of a 422. */
  readonly refused: (body: object) => Promise<readonly string[]>;
  readonly upload: (type: string, ...entities: readonly object[]) => ReturnType<typeof post>;
  readonly events: (body: object, type: string) => Promise<readonly Record<string, unknown>[]>;
}

function clientOf(url: string): Client {
  const rank = async (
    body: object,
    route: string,
  ): Promise<readonly { candidate_id: string; ranked_score: number }[]> => {
    const { status, json, text } = await post(`${url}/api/v1/${route}`, body);
    expect(status, text).to.equal(200);
    return (json as { ranked_candidates: readonly { candidate_id: string; ranked_score: number }[] })
      .ranked_candidates;
  };
  return {
    send: (path, body) => post(url + path, body),
    ids: async (body, route = 'ranking') => (await rank(body, route)).map(({ candidate_id: id }) => id),
    scores: async (body, route = 'ranking') =>
      Object.fromEntries((await rank(body, route)).map((one) => [one.candidate_id, one.ranked_score])),
    refused: async (body) => {
      const { status, json } = await post(`${url}/api/v1/ranking`, body);
      expect(status).to.equal(422);
      return (json?.errors as readonly { pointer: string; code: string }[]).map(
        ({ pointer, code }) => `${pointer} ${code}`,
      );
    },
    upload: (entity_type, ...entities) => post(`${url}/api/v1/entities/upload`, { entity_type, entities }),
    events: async (body, type) => {
      const { json } = await post(`${url}/api/v1/ranking`, { ...body, include_events: true });
      return (json?.events as readonly { event_type: string; event_data: Record<string, unknown> }[])
        .filter((one) => one.event_type === type)
        .map((one) => one.event_data);
    },
  };
}

const push = (client: Client, view: string, ...rows: readonly object[]): ReturnType<typeof post> =>
  client.send('/api/v1/features/push', { view, rows });

/** By the first column of the table: what shows the row. */
const CHECKS: Readonly<Record<string, (client: Client, url: string) => Promise<void>>> = {
  'a body that breaks the schema': async ({ send }) => {
    const { status, json, headers } = await send('/api/v1/ranking', {
      candidates: [{ product_id: 'p1', price: 'x' }],
    });
    expect([status, headers.get('content-type')]).to.deep.equal([422, 'application/problem+json']);
    expect(json).to.include({ code: 'invalid_body', status: 422 });
    expect(json?.errors).to.deep.equal([
      {
        pointer: '/candidates/0/price',
        code: 'wrong_type',
        detail: 'expected a number, found the text "x"',
      },
    ]);
  },
  '`user_page_size: 0`': async ({ refused }) => {
    expect(await refused(request(products(2), { user_page_size: 0 }))).to.include(
      '/user_page_size out_of_range',
    );
  },
  'a page after the end': async ({ ids }) => {
    expect(await ids(request(products(3), { user_page: 5, user_page_size: 2 }))).to.deep.equal([]);
  },
  'page sizes that do not divide': async ({ ids }) => {
    const pages = [0, 1, 2].map((user_page) => ids(request(products(8), { user_page, user_page_size: 3 })));
    const all = products(8).map(({ product_id: id }) => id);
    expect((await Promise.all(pages)).flat()).to.deep.equal(all);
    // The third user page of 3 begins within the first candidate page of 8, and ends in the second.
    const second = request(products(8), { user_page: 2, user_page_size: 3, candidate_page: 1 });
    expect(await ids(second)).to.deep.equal(['p1']);
  },
  'a page that lies before the candidate page': async ({ refused }) => {
    expect(await refused(request(products(4), { candidate_page: 2 }))).to.deep.equal([
      '/user_page before_candidates',
    ]);
  },
  'more than 1,000 candidates': async ({ refused, ids }) => {
    expect(await ids(request(products(1000)))).to.have.length(100);
    expect(await refused(request(products(1001)))).to.include('/candidates too_many');
  },
  'no `query`, no sizes, no `request_id`': async ({ ids }) => {
    expect(await ids({ candidates: products(2) })).to.deep.equal(['p1', 'p2']);
  },
  'a candidate twice': async ({ ids }) => {
    const [one, two] = products(2);
    expect(await ids(request([one ?? {}, two ?? {}, one ?? {}]))).to.deep.equal(['p1', 'p2']);
  },
  'an attribute as 0, false or ""': async ({ upload, scores }) => {
    await upload('product', { product_id: 'p1', price: 50, on_sale: true, label: 'x' });
    const sent = { product_id: 'p1', price: 0, on_sale: false, label: '' };
    expect(await scores(request([sent]), 'by_label')).to.deep.equal({ p1: 1 });
    expect(await scores(request([{ product_id: 'p1' }]), 'by_label')).to.deep.equal({ p1: 60 });
  },
  'a nested object in a candidate': async ({ upload, scores }) => {
    await upload('brand', { brand_id: 'b1', name: 'stored', fame: 4 });
    const sent = { product_id: 'p1', brand: { brand_id: 'b1', name: 'sent' } };
    expect(await scores(request([sent]), 'by_brand')).to.deep.equal({ p1: 5 });
  },
  'product `1` and brand `1` with features of one name': async (client) => {
    await push(client, 'product_stats', { product_id: '1', heat: 7, tags: null, note: null });
    await push(client, 'brand_stats', { brand_id: '1', heat: 2 });
    const sent = request([{ product_id: '1', brand_id: '1' }]);
    expect(await client.scores(sent, 'by_features')).to.deep.equal({ '1': 5 });
  },
  'an indexed attribute of a wrong type': async ({ upload, ids }) => {
    const { status, json } = await upload('product', { product_id: 'p1', price: 'dear' });
    expect([status, (json?.errors as { pointer: string }[])[0]?.pointer]).to.deep.equal([
      422,
      '/entities/0/price',
    ]);
    expect(await ids(request([{ product_id: 'p1' }]))).to.deep.equal(['p1']);
  },
  'pin to 1': async ({ ids }) => {
    const sent = [
      { product_id: 'p1', price: 5 },
      { product_id: 'p2', price: 0 },
      { product_id: 'p3', price: -1 },
    ];
    expect(await ids(request(sent), 'pinned')).to.deep.equal(['p2', 'p1', 'p3']);
  },
  'boost of a negative score': async ({ scores }) => {
    const sent = { product_id: 'p1', price: -2, label: 'x' };
    expect(await scores(request([sent]), 'raised')).to.deep.equal({ p1: 0 });
  },
  'a missing model output': async ({ send, scores }) => {
    const sent = request([{ product_id: 'p1', price: 3 }]);
    expect(await scores(sent, 'modelled')).to.deep.equal({ p1: 3 });
    const { headers } = await send('/api/v1/modelled', sent);
    expect(headers.get('millrace-degraded')).to.contain('skipped=deep');
  },
  '`include_events`: CANDIDATE': async ({ events }) => {
    const found = await events(request(products(3)), 'CANDIDATE');
    expect(found.map(({ candidate_order: order }) => order)).to.deep.equal([0, 1, 2]);
  },
  '`include_events`: features that are 0, "" or []': async (client) => {
    await push(client, 'product_stats', { product_id: 'p1', heat: 0, tags: [], note: '' });
    const found = await client.events(request(products(1)), 'FEATURE');
    const values: Record<string, unknown> = Object.fromEntries(
      found.map((one) => [String(one['feature_name']), one]),
    );
    for (const [name, value] of [
      ['heat', 0],
      ['tags', []],
      ['note', ''],
    ] as const)
      expect(values[`product_stats:${name}`], name).to.deep.include({
        feature_value: value,
        feature_status: 'present',
      });
  },
  '`include_events`: `impression_order` on page 2': async ({ events }) => {
    const found = await events(request(products(4), { user_page: 1, user_page_size: 2 }), 'IMPRESSION');
    expect(found.map(({ impression_order: order }) => order)).to.deep.equal([2, 3]);
  },
  'an upload with an id twice': async ({ upload, send }) => {
    const { json } = await upload('product', { product_id: 'p1', price: 1 }, { product_id: 'p1', price: 2 });
    expect(json).to.deep.equal({ entity_type: 'product', entity_ids: ['p1'], duplicates: 1 });
    const stored = await send('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['p1'] });
    expect(stored.json?.entities).to.deep.equal({ p1: { product_id: 'p1', price: 2 } });
  },
  'ids that are whole numbers': async ({ ids }) => {
    expect(await ids(request([{ product_id: 7 }]))).to.deep.equal(['7']);
  },
  'an unknown entity type': async ({ upload }) => {
    const { status, json } = await upload('prodct', { prodct_id: '1' });
    expect([status, json?.code]).to.deep.equal([404, 'unknown_entity_type']);
    expect(json?.detail).to.contain('did you mean "product"?');
  },
  'POST /api/entity/v1/entities/delete': async ({ send }) => {
    const body = { entity_type: 'product', entity_ids: ['p1', 'nobody'] };
    for (const path of ['/api/entity/v1/entities/delete', '/api/v1/entities/delete'])
      expect((await send(path, body)).json).to.deep.equal(body);
  },
  'features of a missing row': async ({ send }) => {
    const { json } = await send('/feature/get-online-features', {
      features: ['product_stats:heat'],
      entities: { product_id: ['nobody'] },
      full_feature_names: false,
    });
    const results = json?.results as readonly { values: unknown[]; statuses: string[] }[];
    expect(results[1]).to.deep.include({ values: [null], statuses: ['NOT_FOUND'] });
  },
  'a feature name that does not exist': async ({ send }) => {
    const { status, json } = await send('/feature/get-online-features', {
      features: ['product_stats:heet'],
      entities: { product_id: ['p1'] },
    });
    expect([status, json?.detail]).to.deep.equal([
      422,
      'The body at /features/0: view product_stats has no feature "heet"; did you mean "heat"?',
    ]);
  },
  'GET /healthcheck while Redis is down': () =>
    withFiles(PROJECT, async (root) => {
      const store = new MemoryStore();
      const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root });
      const app = await createApp(settings, { store });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      try {
        store.ping = () => Promise.reject(new Error('down'));
        const url = `http://127.0.0.1:${server.port}`;
        expect((await call(`${url}/healthcheck`)).json).to.deep.equal({ status: 'OK' });
        expect((await call(`${url}/readyz`)).status).to.equal(503);
      } finally {
        await server.close(0);
        await app.close();
      }
    }),
};

describe('docs/from-wyvern.md', () => {
  it('has a check for every difference', () => {
    expect(ROWS).to.have.length.above(20);
    expect(Object.keys(CHECKS)).to.deep.equal(ROWS);
  });

  it('shows exchanges that happen so', () =>
    serveShippedProject(async (url) => {
      const exchanges = exchangesOf(PAGE);
      expect(exchanges).to.have.length(1);
      for (const { path, body, answer } of exchanges)
        expect((await post(url + path, body)).json).to.deep.equal(answer);
    }));

  it('is right that the other bodies keep their answers', () =>
    withFiles(PROJECT, (root) =>
      serveProject(root, async (url) => {
        const same = async (path: string, body: object, answer: object): Promise<void> => {
          const { status, json } = await post(url + path, body);
          expect([status, json], path).to.deep.equal([200, answer]);
        };
        const product = { entity_type: 'product' };
        const entity = { product_id: 'p1', price: 2, anything: { nested: [1] } };
        await same('/api/v1/entities/upload', { ...product, entities: [] }, { ...product, entity_ids: [] });
        await same(
          '/api/v1/entities/upload',
          { ...product, entities: [entity] },
          { ...product, entity_ids: ['p1'] },
        );
        const keyed = { ...product, entity_key: 'sku', entities: [{ sku: 'p2', price: 1 }] };
        await same('/api/v1/entities/upload', keyed, { ...product, entity_ids: ['p2'] });
        const asked = { ...product, entity_ids: ['p1', 'nobody'] };
        await same('/api/v1/entities/get', asked, { ...product, entities: { p1: entity, nobody: null } });
        await same('/api/v1/entities/delete', asked, asked);
        await same('/api/v1/ranking', request([]), { ranked_candidates: [] });
        const { headers, json } = await post(
          `${url}/api/v1/ranking`,
          { ...request(products(2)), include_events: true },
          { 'X-Wyvern-Run-Id': 'run-7' },
        );
        expect(headers.get('x-request-id')).to.equal('r1');
        const events = json?.events as readonly Record<string, unknown>[];
        const types = new Set(events.map(({ event_type: type }) => type));
        expect([...types]).to.include.members(['FEATURE', 'CANDIDATE', 'IMPRESSION']);
        for (const event of events) {
          expect(event).to.include.keys('api_source', 'event_timestamp', 'event_data');
          expect(event).to.include({ request_id: 'r1', run_id: 'run-7' });
        }
        expect((await call(`${url}/healthcheck`)).json).to.deep.equal({ status: 'OK' });
      }),
    ));

  for (const row of ROWS)
    it(`is right about ${row}`, () =>
      withFiles(PROJECT, (root) =>
        serveProject(root, async (url) => {
          await CHECKS[row]?.(clientOf(url), url);
        }),
      ));
});
