import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { exchangesOf } from '../support/exchanges.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { GONE_IF_LAX, PAGE, products, PROJECT, request, ROWS, UNJUDGED } from '../support/wyvern-project.js';
import { call, post } from './harness.js';
import { serveProject, serveShippedProject } from './serve-project.js';

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
  'a body that is not JSON': async (_client, url) => {
    const { status, json } = await call(`${url}/api/v1/ranking`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a"',
    });
    expect([status, json?.code]).to.deep.equal([400, 'malformed_json']);
    expect(json?.detail).to.contain('line 1, column 5');
  },
  'NaN or Infinity in a body': async (_client, url) => {
    for (const value of ['NaN', 'Infinity', '-Infinity']) {
      const { status } = await call(`${url}/api/v1/entities/upload`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"entity_type":"product","entities":[{"product_id":"p1","price":${value}}]}`,
      });
      expect(status, value).to.equal(400);
    }
  },
  'a number sent as a text': async ({ refused }) => {
    expect(await refused(request([{ product_id: 'p1', price: '4.5' }]))).to.deep.equal([
      '/candidates/0/price wrong_type',
    ]);
  },
  'a number or a page sent as true or false': async ({ refused }) => {
    expect(await refused(request([{ product_id: 'p1', price: true }]))).to.deep.equal([
      '/candidates/0/price wrong_type',
    ]);
    expect(await refused(request(products(2), { user_page: false }))).to.deep.equal([
      '/user_page out_of_range',
    ]);
  },
  'a text sent as a number': async ({ refused }) => {
    expect(await refused(request([{ product_id: 'p1', label: 123 }]))).to.deep.equal([
      '/candidates/0/label wrong_type',
    ]);
  },
  'a text sent as true or false': async ({ refused }) => {
    expect(await refused(request([{ product_id: 'p1', label: true }]))).to.deep.equal([
      '/candidates/0/label wrong_type',
    ]);
  },
  'a flag sent as a text or a number': async ({ refused }) => {
    for (const on_sale of ['yes', 0, 1])
      expect(await refused(request([{ product_id: 'p1', on_sale }]))).to.deep.equal([
        '/candidates/0/on_sale wrong_type',
      ]);
  },
  'a page that is a text': async ({ refused }) => {
    expect(await refused(request(products(2), { user_page: '0' }))).to.deep.equal([
      '/user_page out_of_range',
    ]);
  },
  'a page that is a fraction': async ({ refused }) => {
    expect(await refused(request(products(2), { user_page: 0.5 }))).to.deep.equal([
      '/user_page out_of_range',
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
  'a page or a size out of range': async ({ refused }) => {
    for (const more of [{ user_page: -1 }, { user_page_size: 201 }, { user_page_size: 300 }])
      expect(await refused(request(products(200), more))).to.include(
        `/${Object.keys(more)[0] ?? ''} out_of_range`,
      );
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
  'an empty id': async ({ refused, upload }) => {
    expect(await refused(request([{ product_id: '' }]))).to.deep.equal([
      '/candidates/0/product_id invalid_id',
    ]);
    expect((await upload('product', { product_id: '', price: 1 })).status).to.equal(422);
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
  'a nested object in an upload': async ({ upload }) => {
    const { status } = await upload('product', { product_id: 'n1', brand: { brand_id: 'b1' } });
    expect(status).to.equal(422);
  },
  'an uploaded nested object, read again': async ({ upload, send }) => {
    await upload('product', { product_id: 'n1', brand: { brand_id: 'b1', name: 'x' } });
    const { json } = await send('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['n1'] });
    expect(json?.entities).to.deep.equal({ n1: null });
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
  'the score of a pinned candidate': async ({ scores }) => {
    const sent = (price: number): object[] => [
      { product_id: 'p1', price: 5 },
      { product_id: 'p2', price },
      { product_id: 'p3', price: 3 },
    ];
    expect(await scores(request(sent(1)), 'pinned')).to.deep.equal({ p1: 5, p2: 5, p3: 3 });
    expect(await scores(request(sent(7)), 'pinned')).to.deep.equal({ p1: 5, p2: 7, p3: 3 });
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
  '`include_events`: `event_timestamp`': async ({ send }) => {
    const { json } = await send('/api/v1/ranking', { ...request(products(1)), include_events: true });
    for (const { event_timestamp: time } of json?.events as readonly { event_timestamp: string }[])
      expect(time).to.match(/^[-\dT:.]+Z$/);
  },
  '`include_events`: `run_id` without a header': async ({ send }) => {
    const runs = await Promise.all(
      [1, 2].map(() => send('/api/v1/ranking', { ...request(products(1)), include_events: true })),
    );
    const ids = runs.map(({ json }) => (json?.events as readonly { run_id: string }[])[0]?.run_id);
    expect(ids[0]).to.be.a('string').that.does.not.equal(ids[1]);
  },
  '`include_events`: BUSINESS_LOGIC': async ({ send }) => {
    const sent = request([{ product_id: 'p1', price: 2, label: 'x' }], { include_events: true });
    const { json } = await send('/api/v1/raised', sent);
    const names = (json?.events as readonly { event_type: string; event_data: Record<string, unknown> }[])
      .filter(({ event_type: type }) => type === 'BUSINESS_LOGIC')
      .map(({ event_data: data }) => data['business_logic_name']);
    expect(names).to.deep.equal(['score', 'boost']);
  },
  'an upload with an id twice': async ({ upload, send }) => {
    const { json } = await upload('product', { product_id: 'p1', price: 1 }, { product_id: 'p1', price: 2 });
    expect(json).to.deep.equal({ entity_type: 'product', entity_ids: ['p1'], duplicates: 1 });
    const stored = await send('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['p1'] });
    expect(stored.json?.entities).to.deep.equal({ p1: { product_id: 'p1', price: 2 } });
  },
  'an upload without an id': async ({ upload }) => {
    const { status, json } = await upload('product', { price: 1 });
    expect([status, (json?.errors as { code: string }[])[0]?.code]).to.deep.equal([422, 'missing_id']);
  },
  'an id that the index does not have, in `entities/get`': async ({ send }) => {
    const { json } = await send('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['nobody'] });
    expect(json?.entities).to.deep.equal({ nobody: null });
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
      let isDown = false;
      store.ping = () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve());
      const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root });
      const app = await createApp(settings, { store });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      try {
        isDown = true;
        const url = `http://127.0.0.1:${server.port}`;
        expect((await call(`${url}/healthcheck`)).json).to.deep.equal({ status: 'OK' });
        expect((await call(`${url}/readyz`)).status).to.equal(503);
      } finally {
        await server.close(0);
        await app.close();
      }
    }),
};

/** What shows the rows that a lax project does not have, or has otherwise. */
const LAX_CHECKS: typeof CHECKS = {
  'a number sent as a text': async ({ scores }) => {
    expect(await scores(request([{ product_id: 'p1', price: ' 4.5 ' }]))).to.deep.equal({ p1: 4.5 });
  },
  'a number or a page sent as true or false': async ({ scores }) => {
    const sent = request([{ product_id: 'p1', price: true }], { user_page: false });
    expect(await scores(sent)).to.deep.equal({ p1: 1 });
  },
  'a text sent as a number': async ({ scores }) => {
    const sent = { product_id: 'p1', price: 2, label: 123, on_sale: true };
    expect(await scores(request([sent]), 'by_label')).to.deep.equal({ p1: 12 });
  },
  'a flag sent as a text or a number': async ({ scores }) => {
    for (const [on_sale, score] of [
      ['yes', 12],
      ['OFF', 2],
      [0, 2],
      [1, 12],
    ] as const) {
      const sent = { product_id: 'p1', price: 2, label: 'x', on_sale };
      expect(await scores(request([sent]), 'by_label'), String(on_sale)).to.deep.equal({ p1: score });
    }
  },
  'a page that is a text': async ({ ids }) => {
    const sent = request(products(4), { user_page: '1', user_page_size: ' 2 ' });
    expect(await ids(sent)).to.deep.equal(['p3', 'p4']);
  },
  'a nested object in an upload': async ({ upload }) => {
    const { json } = await upload('product', { product_id: 'n1', brand: { brand_id: 'b1' } });
    expect(json).to.deep.equal({ entity_type: 'product', entity_ids: ['n1'] });
  },
  'an uploaded nested object, read again': async ({ upload, send }) => {
    await upload('product', { product_id: 'n1', brand: { brand_id: 'b1', name: 'x' } });
    const { json } = await send('/api/v1/entities/get', { entity_type: 'product', entity_ids: ['n1'] });
    expect(json?.entities).to.deep.equal({ n1: { product_id: 'n1', brand: 'b1' } });
  },
};

describe('docs/from-wyvern.md', () => {
  it('has a check for every difference, and says what to do about it', () => {
    expect(ROWS).to.have.length.above(20);
    expect(Object.keys(CHECKS)).to.deep.equal(ROWS);
    expect(UNJUDGED).to.deep.equal([]);
    expect(Object.keys(LAX_CHECKS)).to.include.members([...GONE_IF_LAX]);
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

  for (const row of ROWS)
    it(`is right about ${row}, in a lax project`, () =>
      withFiles(PROJECT, (root) => {
        const check = async (url: string): Promise<void> =>
          (LAX_CHECKS[row] ?? CHECKS[row])?.(clientOf(url), url);
        return serveProject(root, check, undefined, { MILLRACE_ACCEPT: 'lax' });
      }));
});
