import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { hitText, startEngine, type FakeEngine } from '../support/fake-engine.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const WINDOW = 20;
const COUNT = 57;

/** Ranks by a price that the hits carry, so that the window is turned round; `fail` and `slow` are what the ranking does. */
const filesFor = (url: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'plugins/mood/options.schema.json': JSON.stringify({
    type: 'object',
    additionalProperties: false,
    properties: { of: { description: 'What to do.', millrace: 'text' } },
    required: ['of'],
  }),
  'plugins/mood/index.js': `import { readFileSync } from 'node:fs';
import { definePlugin, isKnown } from 'millrace/api';
export const plugin = definePlugin({
  name: 'mood', kind: 'feature', summary: 'Fails or hangs.',
  options: JSON.parse(readFileSync(new URL('options.schema.json', import.meta.url), 'utf8')),
  create: ({ of }) => ({
    outputs: { out: 'number' },
    async compute(input) {
      const column = input.column(of);
      const text = isKnown(column.status[0]) ? column.values[0] : '';
      if (text === 'fail') throw new Error('it is broken');
      if (text === 'slow') await new Promise(() => {});
    },
  }),
});
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { place: int, engine_score: float }, query: query, user: optional(user), mood: optional(string), least: optional(float) }
limits: { candidates: ${WINDOW}, time: 1500ms }
components:
  - { use: mood, when: known(request.mood), with: { of: request.mood } }
  - { use: filter, with: { keep: 'product.price >= coalesce(request.least, 0)' } }
  - { use: score, with: { value: 'product.price + 0 * product.place * product.engine_score' } }
log: { candidates: all, features: all }
`,
  'fronts/shop.yaml': `front: shop
use: opensearch
pipeline: search
window: ${WINDOW}
path: /
map:
  query: [body.query.multi_match.query, body.query.bool.must.0.match.title.query]
  user: header.x-user
  mood: header.x-mood
  least: param.least
  candidates: { price: hit._source.price, place: place, engine_score: hit._score }
pass: [/:index/_mapping]
timeout: 2s
with: { url: "${url}" }
`,
  ...more,
});

interface Found {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Answer {
  readonly took: number;
  readonly hits: { readonly hits: readonly { readonly _id: string }[] };
}

const QUERY = { multi_match: { query: 'schuh', fields: ['title'] } };
const idsOf = ({ text }: Found): string[] => (JSON.parse(text) as Answer).hits.hits.map(({ _id: id }) => id);
const withoutTook = (text: string): string => text.replaceAll(/"took":\d+/g, '"took":0');
/** In the order that people see: the first hits turned round, then the engine's order. */
const ORDER = [...Array(COUNT).keys()].map((at) => (at < WINDOW ? WINDOW - 1 - at : at));

describe('fronts', () => {
  let engine: FakeEngine;
  let project: ServedProject | undefined;
  before(async () => {
    engine = await startEngine(COUNT);
    project = await serveFiles(filesFor(engine.url), undefined, { MILLRACE_MODEL_HOSTS: engine.host });
  });
  after(async () => {
    await project?.close();
    await engine.close();
  });
  beforeEach(() => {
    engine.requests.length = 0;
    engine.answer = undefined;
  });

  async function send(
    url: string,
    path: string,
    body?: unknown,
    headers = {},
    method = 'POST',
  ): Promise<Found> {
    const answer = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
  const search = (body: unknown, headers = {}, query = ''): Promise<Found> =>
    send(project?.url ?? '', `/products/_search${query}`, body, headers);
  const direct = (body: unknown): Promise<Found> => send(engine.url, '/products/_search', body);

  it('ranks the window, and answers the bytes of the engine', async () => {
    const { status, headers, text } = await search({ query: QUERY, from: 5, size: 3 });
    expect(status).to.equal(200);
    expect(headers.get('millrace-front')).to.equal(`ranked=${WINDOW}`);
    expect(headers.get('millrace-degraded')).to.equal(null);
    expect(headers.get('x-elastic-product')).to.equal('Elasticsearch');
    expect(headers.get('content-type')).to.equal('application/json; charset=UTF-8');
    const page = (await direct({ query: QUERY, from: 5, size: 3 })).text;
    const own = page.replace(/"hits":\[.*\]/, `"hits":[${[14, 13, 12].map(hitText).join(',')}]`);
    expect(withoutTook(text)).to.equal(withoutTook(own));
    expect(engine.requests[0]?.body).to.equal(`{"query":${JSON.stringify(QUERY)},"from":0,"size":${WINDOW}}`);
  });

  it('shows each hit once, whatever the sizes of the pages are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
        async (sizes) => {
          const seen: string[] = [];
          for (let turn = 0; seen.length < COUNT; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            const page = await search({ query: QUERY, from: seen.length, size });
            const isPast = seen.length >= WINDOW;
            expect(page.headers.get('millrace-front')).to.equal(
              isPast ? 'passed=window' : `ranked=${WINDOW}`,
            );
            expect(idsOf(page)).to.have.length(Math.min(size, COUNT - seen.length));
            seen.push(...idsOf(page));
          }
          expect(seen).to.deep.equal(ORDER.map((at) => `p${at}`));
        },
      ),
      { numRuns: 15, endOnFailure: true },
    );
  });

  it('puts hits that the pipeline leaves out at the end of the window', async () => {
    const ids: string[] = [];
    for (let from = 0; from < COUNT; from += 8)
      ids.push(...idsOf(await search({ query: QUERY, from, size: 8 }, {}, '?least=10.6')));
    const [kept, left] = [ORDER.filter((at) => at > 10 && at < WINDOW), [...Array(11).keys()]];
    expect(ids).to.deep.equal([...kept, ...left, ...ORDER.slice(WINDOW)].map((at) => `p${at}`));
  });

  it('takes the page from the address, too', async () => {
    const found = await search({ query: QUERY, size: 2 }, {}, '?from=1&size=4&preference=a%26b');
    expect(idsOf(found)).to.deep.equal(['p18', 'p17', 'p16', 'p15']);
    expect(engine.requests[0]?.url).to.equal('/products/_search?preference=a%26b');
  });

  it('replaces the page of the body if the address has another', async () => {
    const found = await search({ query: QUERY, from: 20, size: 10 }, {}, '?from=0');
    expect(idsOf(found)).to.deep.equal(Array.from({ length: 10 }, (_, at) => `p${WINDOW - 1 - at}`));
    expect(engine.requests[0]?.body).to.include('"from":0');
  });

  const PASSED: readonly (readonly [string, unknown, string?])[] = [
    ['sort', { query: QUERY, sort: [{ price: 'asc' }, '_score'] }],
    ['sort', { query: QUERY }, '?sort=price:asc'],
    ['collapse', { query: QUERY, collapse: { field: 'brand' } }],
    ['search_after', { query: QUERY, search_after: [1] }],
    ['scroll', { query: QUERY }, '?scroll=1m'],
    ['q', {}, '?q=schuh'],
    ['size', { query: QUERY, size: 0 }],
    ['window', { query: QUERY, from: WINDOW, size: 5 }],
    ['no_query', { query: { match_all: {} } }],
  ];
  for (const [why, body, query = ''] of PASSED)
    it(`passes a search on as it is, and says so: ${why}${query}`, async () => {
      const sent = JSON.stringify(body);
      const { status, headers, text } = await search(sent, {}, query);
      expect(status).to.equal(200);
      expect(headers.get('millrace-front')).to.equal(`passed=${why}`);
      expect(withoutTook(text)).to.equal(withoutTook((await direct(sent)).text));
      expect(engine.requests[0]).to.include({ body: sent, url: `/products/_search${query}` });
    });

  it('ranks searches that sort by score', async () => {
    for (const sort of ['_score', ['_score'], [{ _score: 'desc' }], [{ _score: { order: 'desc' } }], []])
      expect((await search({ query: QUERY, sort })).headers.get('millrace-front')).to.equal(
        `ranked=${WINDOW}`,
      );
  });

  it('keeps what a body says beside its page to the byte', async () => {
    const body = `{ "query" : ${JSON.stringify(QUERY)}, "size":4 , "big": 12345678901234567890, "f": 1.0 }`;
    await search(body);
    expect(engine.requests[0]?.body).to.equal(body.replace('4', String(WINDOW)));
  });

  const FAILED: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['component_failed', { 'x-mood': 'fail' }],
    ['deadline_exceeded', { 'x-mood': 'slow' }],
    ['invalid_body', { 'x-user': 'x'.repeat(2000) }],
  ];
  for (const [code, headers] of FAILED)
    it(`answers in the engine's order if the ranking fails: ${code}`, async () => {
      const body = { query: QUERY, from: 3, size: 25 };
      const found = await search(body, headers);
      expect(found.status).to.equal(200);
      expect(found.headers.get('millrace-front')).to.equal(`degraded=${code}`);
      expect(found.headers.get('millrace-degraded')).to.equal(`front=${code}`);
      expect(withoutTook(found.text)).to.equal(withoutTook((await direct(body)).text));
      expect(project?.log.some((line) => line.code === code)).to.equal(true);
    });

  it('ranks nothing if a hit has no id, and says so', async () => {
    engine.answer = (_, response) => {
      response.writeHead(200).end('{"hits":{"hits":[{"_id":"a"},{"_source":{}},{"_id":"b"}]}}');
      return true;
    };
    const found = await search({ query: QUERY, size: 2 });
    expect(found.headers.get('millrace-front')).to.equal('degraded=no_ids');
    expect(found.text).to.equal('{"hits":{"hits":[{"_id":"a"},{"_source":{}}]}}');
  });

  it('ranks nothing if an id is a number that is not exact', async () => {
    engine.answer = (_, response) => {
      response.writeHead(200).end('{"hits":{"hits":[{"_id":9007199254740993},{"_id":9007199254740992}]}}');
      return true;
    };
    const found = await search({ query: QUERY, size: 1 });
    expect(found.headers.get('millrace-front')).to.equal('degraded=no_ids');
    expect(found.text).to.equal('{"hits":{"hits":[{"_id":9007199254740993}]}}');
  });

  it('passes more than 100 searches on as they are, and counts equal words', async () => {
    const type = { 'content-type': 'application/x-ndjson' };
    const lines = `{}\n${JSON.stringify({ query: QUERY, size: 1 })}\n`;
    for (const [count, told] of [
      [100, `ranked=${WINDOW};n=100`],
      [101, 'passed=searches'],
    ] as const) {
      engine.requests.length = 0;
      const found = await send(project?.url ?? '', '/_msearch', lines.repeat(count), type);
      expect(found.headers.get('millrace-front')).to.equal(told);
      if (count > 100) expect(engine.requests.map(({ body }) => body)).to.deep.equal([lines.repeat(count)]);
    }
  });

  it('ranks the other searches if the engine refuses one', async () => {
    const refused = '{"error":{"type":"index_not_found_exception"},"status":404}';
    engine.answer = (_, response) => {
      response
        .writeHead(200)
        .end(`{"responses":[${refused}, {"hits":{"hits":[${hitText(0)},${hitText(1)}]},"status":200}]}`);
      return true;
    };
    const lines = `{}\n${JSON.stringify({ query: QUERY })}\n`.repeat(2);
    const type = { 'content-type': 'application/x-ndjson' };
    const found = await send(project?.url ?? '', '/_msearch', lines, type);
    expect(engine.requests).to.have.length(1);
    expect(found.headers.get('millrace-front')).to.equal('failed=404, ranked=2');
    expect(found.text).to.equal(
      `{"responses":[${refused}, {"hits":{"hits":[${hitText(1)},${hitText(0)}]},"status":200}]}`,
    );
  });

  it('ranks each of several searches that can be ranked, and counts all of them', async () => {
    const bodies = [
      { query: QUERY, from: 5, size: 3 },
      { query: QUERY, sort: ['price'] },
      { query: QUERY, from: 18, size: 4 },
    ];
    const lines = bodies.flatMap((body) => ['{"index":"products"}', JSON.stringify(body)]).join('\n');
    const type = { 'content-type': 'application/x-ndjson' };
    const found = await send(project?.url ?? '', '/_msearch?typed_keys=true', `${lines}\n`, type);
    expect(found.status).to.equal(200);
    expect(found.headers.get('millrace-front')).to.equal(`ranked=${WINDOW};n=2, passed=sort`);
    expect(engine.requests[0]?.headers['content-type']).to.equal('application/x-ndjson');
    const own = (await send(engine.url, '/_msearch', `${lines}\n`, type)).text;
    let turn = 0;
    const orders = [[14, 13, 12], [...Array(10).keys()], [1, 0, 20, 21]];
    const expected = own.replaceAll(
      /"hits":\[.*?\](?=\},"aggregations")/g,
      () => `"hits":[${(orders[turn++] ?? []).map(hitText).join(',')}]`,
    );
    expect(withoutTook(found.text)).to.equal(withoutTook(expected));
  });

  it('passes several searches on if the engine refuses the window of one, or none can be ranked', async () => {
    const lines = `{}\n{"size":0}\n\n${JSON.stringify({ query: QUERY, from: 60, size: 1 })}\n`;
    const type = { 'content-type': 'application/vnd.elasticsearch+x-ndjson; compatible-with=8' };
    const found = await send(project?.url ?? '', '/products/_msearch', lines, type);
    expect(found.headers.get('millrace-front')).to.equal('passed=size, passed=window');
    expect(engine.requests[0]).to.include({ body: lines, url: '/products/_msearch' });
    engine.answer = ({ body }, response) => {
      if (!body.includes(`"size":${WINDOW}`)) return false;
      response.writeHead(200).end('{"responses":[{"error":{},"status":400}]}');
      return true;
    };
    const one = `{}\n${JSON.stringify({ query: QUERY, size: 2 })}\n`;
    const refused = await send(project?.url ?? '', '/_msearch', one, type);
    expect(refused.headers.get('millrace-front')).to.equal('passed=no_hits');
    expect((JSON.parse(refused.text) as { responses: Answer[] }).responses[0]?.hits.hits).to.have.length(2);
  });

  it("passes the engine's errors on as they are", async () => {
    for (const status of [401, 404, 429, 500, 503]) {
      engine.answer = (_, response) => {
        response.writeHead(status, { 'www-authenticate': 'Basic', 'content-type': 'text/plain' }).end('no');
        return true;
      };
      const found = await search({ query: QUERY });
      expect([found.status, found.text]).to.deep.equal([status, 'no']);
      expect(found.headers.get('www-authenticate')).to.equal('Basic');
      expect(found.headers.get('millrace-front')).to.equal(null);
    }
  });

  it('asks for the page alone if the engine refuses the window', async () => {
    const small = await startEngine(COUNT, 15);
    const other = await serveFiles(filesFor(small.url), undefined, { MILLRACE_MODEL_HOSTS: small.host });
    try {
      const found = await send(other.url, '/products/_search', { query: QUERY, from: 2, size: 3 });
      expect(found.status).to.equal(200);
      expect(found.headers.get('millrace-front')).to.equal('passed=window_refused');
      expect(idsOf(found)).to.deep.equal(['p2', 'p3', 'p4']);
      const wrong = await send(other.url, '/products/_search', { query: QUERY, from: 2, size: 30 });
      expect([wrong.status, wrong.headers.get('millrace-front')]).to.deep.equal([400, null]);
    } finally {
      await other.close();
      await small.close();
    }
  });

  it('answers 503 if the engine does not answer, redirects or hangs', async () => {
    const DEEDS: readonly FakeEngine['answer'][] = [
      (_, response) => {
        response.writeHead(302, { location: 'http://127.0.0.1/elsewhere' }).end();
        return true;
      },
      (_, response) => {
        response.destroy();
        return true;
      },
      () => true,
    ];
    for (const answer of DEEDS) {
      engine.answer = answer;
      const found = await search({ query: QUERY });
      expect(found.status).to.equal(503);
      expect(JSON.parse(found.text)).to.include({ code: 'engine_failed' });
      expect(found.headers.get('location')).to.equal(null);
    }
  });

  it("sends the client's Authorization to the engine, and no other header that it does not need", async () => {
    await search({ query: QUERY }, { authorization: 'Basic abc', 'x-opaque-id': 'o1', cookie: 'a=b' });
    const [{ headers } = { headers: {} }] = engine.requests;
    expect(headers).to.include({ authorization: 'Basic abc', 'x-opaque-id': 'o1' });
    expect(headers).to.not.have.any.keys('cookie', 'x-user', 'x-mood');
  });

  it('forwards the root and the reads under `pass`, and refuses the rest with 403', async () => {
    const root = await send(project?.url ?? '', '/', undefined, {}, 'GET');
    expect(root.text).to.equal('{"path":"/","version":{"number":"2.19.1"}}');
    expect(root.headers.get('x-elastic-product')).to.equal('Elasticsearch');
    const mapping = await send(project?.url ?? '', '/a%2Fb/_mapping?pretty', undefined, {}, 'GET');
    expect(mapping.text).to.include('"path":"/a%2Fb/_mapping?pretty"');
    expect((await send(project?.url ?? '', '/', undefined, {}, 'HEAD')).status).to.equal(200);
    engine.requests.length = 0;
    for (const [method, path] of [
      ['PUT', '/products/_doc/1'],
      ['POST', '/products/_doc'],
      ['POST', '/_bulk'],
      ['DELETE', '/products'],
      ['GET', '/_cat/indices'],
      ['GET', '/%2e%2e/_mapping'],
      ['GET', '/a%2F..%2Fb/_mapping'],
      ['GET', '/a%5C%2e/_mapping'],
    ] as const) {
      const { status, text } = await send(
        project?.url ?? '',
        path,
        method === 'GET' ? undefined : {},
        {},
        method,
      );
      expect([path, status]).to.deep.equal([path, 403]);
      expect(JSON.parse(text)).to.include({ code: 'not_passed' });
    }
    const withBody = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-length': 2 };
      const sending = request(`${project?.url}/products/_mapping`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.on('error', reject).end('{}');
    });
    expect(withBody).to.equal(403);
    expect(engine.requests).to.deep.equal([]);
    expect((await send(project?.url ?? '', '/api/v1/serch', {})).status).to.equal(404);
  });

  it('records and counts a search as a request of its pipeline', async () => {
    const { headers } = await search({ query: QUERY, from: 5, size: 3 }, { 'x-request-id': 'front-1' });
    expect(headers.get('x-request-id')).to.equal('front-1');
    const metrics = (await project?.get('/metrics')) ?? '';
    expect(metrics).to.match(/millrace_front_searches_total\{front="shop",outcome="ranked"\} [1-9]/);
    expect(metrics).to.match(/millrace_pipeline_candidates_count\{pipeline="search"\} [1-9]/);
    expect(metrics).to.match(/millrace_http_requests_total\{route="\/:index\/_search",status="200"\} [1-9]/);
  });

  it('describes its routes in the OpenAPI document', async () => {
    const { paths } = JSON.parse((await project?.get('/openapi.json')) ?? '') as {
      paths: Record<string, object>;
    };
    expect(paths).to.include.keys('/', '/{index}/_search', '/_search', '/{index}/_mapping');
  });

  it('leaves `Authorization` to the engine also for what it refuses, if the service has keys', async () => {
    const keys = join(project?.root ?? '', 'keys.json');
    await writeFile(keys, keysText([]), { mode: 0o600 });
    const other = await serveFiles(filesFor(engine.url), undefined, {
      MILLRACE_MODEL_HOSTS: engine.host,
      MILLRACE_KEYS: keys,
    });
    try {
      const authorization = 'Basic abc';
      for (const [path, status] of [
        ['/products/_search', 200],
        ['/_bulk', 403],
        ['/api/v1/search', 401],
      ] as const)
        expect([path, (await send(other.url, path, {}, { authorization })).status]).to.deep.equal([
          path,
          status,
        ]);
    } finally {
      await other.close();
    }
  });

  for (const path of ['/_cat/:what', '/products/_search', '/:name/_mapping'])
    it(`refuses \`pass:\` with a path that takes the requests of another: ${path}`, async () => {
      const files = filesFor(engine.url);
      const front = (files['fronts/shop.yaml'] ?? '').replace(
        'pass: [',
        `pass: [/:index/_search, /:index/_mapping, ${path}] #`,
      );
      const error: unknown = await serveFiles({ ...files, 'fronts/shop.yaml': front }, undefined, {
        MILLRACE_MODEL_HOSTS: engine.host,
      }).catch((thrown: unknown) => thrown);
      const { diagnostics = [] } = error as Partial<ProjectInvalidError>;
      expect(diagnostics.map(({ code, message }) => [code, message.split(' ')[0]])).to.deep.equal([
        ['duplicate_route', `\`${path}\``],
      ]);
    });

  it('takes a key of this service with `auth: key`, and sends the engine its own', async () => {
    const files = filesFor(engine.url);
    const front = (files['fronts/shop.yaml'] ?? '')
      .replace('path: /', 'path: /shop/os\nauth: key')
      .replace('with: {', 'with: { headers: { authorization: "Basic own" },');
    const other = await serveFiles({ ...files, 'fronts/shop.yaml': front }, undefined, {
      MILLRACE_MODEL_HOSTS: engine.host,
    });
    try {
      const found = await send(
        other.url,
        '/shop/os/products/_search',
        { query: QUERY },
        { authorization: 'x' },
      );
      expect(found.headers.get('millrace-front')).to.equal(`ranked=${WINDOW}`);
      expect(engine.requests[0]?.url).to.equal('/products/_search');
      expect(engine.requests[0]?.headers.authorization).to.equal('Basic own');
      expect((await send(other.url, '/shop/os/_bulk', {})).status).to.equal(403);
      expect((await send(other.url, '/other', {})).status).to.equal(404);
    } finally {
      await other.close();
    }
  });
});
