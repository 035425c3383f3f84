import { expect } from 'chai';
import { serveFiles, type ServedProject } from '../support/served-project.js';
import { until } from '../support/until.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float }\n',
  'schemas/entities/request.yaml': 'entity: request\nattributes: { basket: float, tags: list(string) }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  { candidates: {}, query: optional(query), user: optional(user), most: optional(float), cheap: optional(bool) }
retrieve:
  - { use: words, with: { query: query.query, fields: { product.title: 1 }, language: english } }
components:
  - { use: filter, as: most, with: { keep: product.price <= request.most } }
  - { use: filter, as: cheap, with: { keep: product.price < 20 or not request.cheap } }
  - { use: score, with: { value: words:score } }
page: { size: 2, max_size: 5 }
`,
  'pipelines/plain.yaml':
    'pipeline: plain\nrank: product\nrequest: { candidates: {} }\ncomponents: [{ use: score, with: { value: product.price } }]\n',
};

describe('GET on the route of a pipeline that finds its candidates', () => {
  let served: ServedProject | undefined;
  const ask = async (query: string): Promise<{ status: number; headers: Headers; body: Answer }> => {
    const response = await fetch(`${served?.url}/api/v1/search${query}`);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer,
    };
  };
  interface Answer {
    readonly ranked_candidates?: readonly { readonly candidate_id: string }[];
    readonly code?: string;
    readonly events?: unknown;
    readonly errors?: readonly { readonly pointer: string }[];
  }
  const idsOf = async (query: string): Promise<readonly string[]> =>
    ((await ask(query)).body.ranked_candidates ?? []).map(({ candidate_id }) => candidate_id);

  before(async () => {
    const started = await serveFiles(FILES);
    served = started;
    await started.post('/api/v1/entities/upload', {
      entity_type: 'product',
      entities: [
        { product_id: 'p1', title: 'Trail shoe', price: 10 },
        { product_id: 'p2', title: 'Trail shoe, light', price: 20 },
        { product_id: 'p3', title: 'Shoes with long laces', price: 30 },
      ],
    });
    await until('the words to be read', async () => (await idsOf('?q=shoe')).length > 0, 8000);
  });
  after(() => served?.close());

  it('answers a query, with the page, values and entities that POST takes', async () => {
    expect(await idsOf('?q=trail+shoe')).to.deep.equal(['p1', 'p2']);
    expect(await idsOf('?query=trail%20shoe&user_page=1')).to.deep.equal(['p3']);
    expect(await idsOf('?q=trail+shoe&most=15&user=u1&user_page_size=5')).to.deep.equal(['p1']);
    expect(await idsOf('?q=shoe&cheap=true&user_page_size=5')).to.deep.equal(['p1']);
    expect(await idsOf('?q=trail+shoe&basket=15&user_page_size=5')).to.deep.equal(['p1', 'p2', 'p3']);
    expect((await ask('?q=shoe&include_events=true')).body.events).to.not.equal(undefined);
    expect((await ask('?q=shoe&include_events=false')).body.events).to.equal(undefined);
    const posted = await served?.post('/api/v1/search', { query: { query: 'trail shoe' } });
    const { body } = await ask('?q=trail+shoe');
    expect(body).to.deep.equal(posted?.json);
  });

  it('answers an empty page without a query, and for unknown words', async () => {
    expect(await idsOf('')).to.deep.equal([]);
    expect(await idsOf('?q=')).to.deep.equal([]);
    expect(await idsOf('?q=%E0%A4%A')).to.deep.equal([]);
    expect(await idsOf('?q=unheard')).to.deep.equal([]);
  });

  it('leaves out empty values, before and after the one that counts', async () => {
    for (const query of ['?q=&q=laces', '?q=laces&q=', '?q=&query=laces&user_page='])
      expect(await idsOf(query), query).to.deep.equal(['p3']);
  });

  it('refuses what POST refuses, with the place', async () => {
    const wrong = {
      '?q=shoe&user_page=x': '/user_page',
      '?q=shoe&user_page_size=9': '/user_page_size',
      '?q=shoe&most=much': '/most',
      '?q=shoe&q=boot': '/query',
      '?q=shoe&query=shoe': '/query',
      '?q=shoe&include_events=1': '/include_events',
      '?q=shoe&basket=full': '/basket',
      '?q=shoe&candidates=p1': '/candidates',
    };
    for (const [query, pointer] of Object.entries(wrong)) {
      const { status, body } = await ask(query);
      expect([status, body.code, body.errors?.[0]?.pointer], query).to.deep.equal([
        422,
        'invalid_body',
        pointer,
      ]);
    }
    const { status, headers } = await ask('?q=shoe&pricee=3&__proto__=x');
    expect(status).to.equal(200);
    expect(headers.get('millrace-degraded')).to.equal(null);
  });

  it('is described, and only there', async () => {
    const { paths } = JSON.parse((await served?.get('/openapi.json')) ?? '') as {
      paths: Record<string, Record<string, { parameters: { name?: string }[] }>>;
    };
    const names = paths['/api/v1/search']?.get?.parameters.flatMap(({ name }) => name ?? []);
    expect(names).to.include.members([
      'q',
      'user',
      'most',
      'cheap',
      'basket',
      'user_page',
      'user_page_size',
      'include_events',
    ]);
    expect(Object.keys(paths['/api/v1/search'] ?? {})).to.deep.equal(['post', 'get']);
    expect(Object.keys(paths['/api/v1/plain'] ?? {})).to.deep.equal(['post']);
    expect((await fetch(`${served?.url}/api/v1/plain?q=x`)).status).to.equal(405);
    const options = await fetch(`${served?.url}/api/v1/search`, { method: 'OPTIONS' });
    expect(options.headers.get('allow')).to.equal('GET, HEAD, POST, OPTIONS');
    expect((await fetch(`${served?.url}/api/v1/search`, { method: 'PUT' })).status).to.equal(405);
  });
});
