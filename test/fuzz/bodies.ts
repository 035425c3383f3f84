import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { request } from 'undici';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { writeProject } from '../support/project.js';
import { rm } from 'node:fs/promises';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';
import { jsonEdits } from './mutate-json.js';

const NOW = Date.UTC(2026, 0, 31, 12);

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  sold: bool
  released: timestamp
  tags: list(string)
  brand: ref(brand)
  similar: list(ref(product))
  embedding: vector(4)
  size: { record: { width: float, height: float } }
  variants: { list: { sku: string, price: float, maker: ref(brand) } }
`,
  'schemas/entities/brand.yaml':
    'entity: brand\nattributes: { name: string, parent: ref(brand), fame: float }\n',
  'schemas/entities/user.yaml':
    'entity: user\nattributes: { age: int, favourite: ref(brand), taste: vector(4) }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nttl: 7d\nfeatures: { ctr: float, clicks: { type: int, default: 0 }, top: string, hot: bool, at: timestamp, tags: list(string), vec: vector(4) }\n',
  'schemas/features/taste.yaml':
    'view: taste\nof: [user, brand]\nexpired: stale\nttl: 1d\nfeatures: { clicks: int }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { search_score: float, words: list(string) }
  query: query
  user: optional(user)
  device: optional(string)
  limit: optional(float)
  terms: optional(list(string))
  since: optional(timestamp)
features: [product_stats, taste: "taste(user, product.brand)"]
define:
  margin: (product.price - 1) / product.price
components:
  - use: filter
    with: { keep: product.stock > 0 }
  - use: text_match
    as: title
    with: { query: query.query, field: product.title }
  - use: similarity
    as: near
    with: { vectors: [product.embedding, user.taste] }
  - use: interaction
    as: seen
    with: { of: user, with: product.brand, outputs: { clicks: { event: click, window: 7d } } }
  - use: score
    with:
      value: title:bm25 + coalesce(product_stats:ctr, 0) + coalesce(taste:clicks, 0) + coalesce(product.search_score, 0) + coalesce(near:cosine, 0) + coalesce(seen:clicks, 0) + coalesce(max(product.variants.price), 0) + coalesce(age_days(product.released), 0) / 1000
  - use: boost
    with: { where: product.brand == user.favourite or "x" in product.tags or product.brand.parent.name == request.device, multiply: 1.2 }
  - use: pin
    when: request.device != "kiosk"
    with: { positions: { 1: c2 } }
page: { size: 24, max_size: 100 }
`,
  'pipelines/worth.yaml': `pipeline: worth
score: product
request: { user: optional(user) }
components:
  - use: score
    with: { value: 'coalesce(product.price, 0) * 2' }
answer: { cheap: product.price < 10 }
`,
};

const product = (id: string, more: object = {}): object => ({
  product_id: id,
  title: `red ${id} shoe`,
  price: 12.5,
  stock: 3,
  sold: false,
  released: '2026-01-30T09:30:00Z',
  tags: ['x', 'y'],
  brand: 'b1',
  similar: ['c1', id],
  embedding: [1, 0, 0.5, -1],
  size: { width: 1, height: 2 },
  variants: [{ sku: `${id}-1`, price: 3, maker: 'b1' }],
  extra: { nested: [1, { a: null }] },
  ...more,
});

/** Bodies that are answered with 200. None of them changes what the control request reads. */
const VALID: readonly (readonly [path: string, body: object])[] = [
  [
    '/api/v1/search',
    {
      request_id: 'r-1',
      query: { query: 'red shoe' },
      user: { user_id: 'm1', age: 30, favourite: 'b1', taste: [1, 0, 0, 0] },
      device: 'phone',
      limit: 5.5,
      terms: ['a'],
      since: 1_760_000_000_000,
      candidates: [
        product('m1', { search_score: 1.5, words: ['w'] }),
        { product_id: 'c1', brand: { name: 'Lumen', parent: { brand_id: 'b2' } } },
        { product_id: 'm3' },
      ],
      user_page: 0,
      user_page_size: 3,
      candidate_page: 0,
      candidate_page_size: 3,
      include_events: true,
    },
  ],
  ['/api/v1/search/explain', { query: { query: 'shoe' }, candidates: [product('m1'), { product_id: 'c2' }] }],
  ['/api/v1/worth', { product: product('m1'), user: { user_id: 'm1' } }],
  ['/api/v1/entities/upload', { entity_type: 'product', entities: [product('m1'), product('m2')] }],
  [
    '/api/v1/entities/upload',
    { entity_type: 'user', entity_key: 'sub', entities: [{ sub: 'm1', age: 3, taste: [0, 0, 0, 1] }] },
  ],
  [
    '/api/v1/entities/update',
    { entity_type: 'product', entities: [product('m1'), product('m3')], create: true },
  ],
  ['/api/v1/entities/get', { entity_type: 'product', entity_ids: ['m1', 'c1', 'none'] }],
  ['/api/v1/entities/delete', { entity_type: 'product', entity_ids: ['m2', 'm9'] }],
  ['/api/entity/v1/entities/delete', { entity_type: 'user', entity_ids: ['m1'] }],
  [
    '/api/v1/features/push',
    {
      view: 'product_stats',
      rows: [
        {
          product_id: 'm1',
          ctr: 0.5,
          clicks: 7,
          top: 't',
          hot: true,
          at: '2026-01-01T00:00:00Z',
          tags: ['a'],
          vec: [1, 2, 3, 4],
          event_time: NOW - 5000,
        },
        { product_id: 'm2', ctr: null },
      ],
    },
  ],
  ['/api/v1/features/push', { view: 'taste', rows: [{ user_id: 'm1', brand_id: 'b1', clicks: 3 }] }],
  [
    '/api/v1/features/delete',
    {
      view: 'taste',
      rows: [
        { user_id: 'm2', brand_id: 'b2', event_time: NOW - 5000 },
        { user_id: 'm3', brand_id: 'b1' },
      ],
    },
  ],
  [
    '/feature/get-online-features',
    {
      features: ['product_stats:ctr', 'product_stats:vec', 'taste:clicks'],
      entities: { product_id: ['m1', 'c1'], user_id: ['m1', 'u1'], brand_id: ['b1', 7] },
      full_feature_names: true,
    },
  ],
  [
    '/api/v1/feedback',
    {
      request_id: 'r-1',
      user: { user_id: 'm1' },
      events: [
        { type: 'click', product: { product_id: 'm1' }, quantity: 2, position: 1, time: NOW - 1000 },
        { type: 'impression', product: { product_id: 'c1', brand: 'b1' } },
      ],
    },
  ],
];

/** The stored data for the control requests. */
const STORED: readonly (readonly [path: string, body: object])[] = [
  [
    '/api/v1/entities/upload',
    { entity_type: 'product', entities: ['c1', 'c2', 'c3'].map((id, i) => product(id, { price: i })) },
  ],
  [
    '/api/v1/entities/upload',
    {
      entity_type: 'brand',
      entities: [
        { brand_id: 'b1', name: 'Lumen', parent: 'b2' },
        { brand_id: 'b2', name: 'phone' },
      ],
    },
  ],
  [
    '/api/v1/entities/upload',
    { entity_type: 'user', entities: [{ user_id: 'u1', favourite: 'b1', taste: [1, 1, 0, 0] }] },
  ],
  [
    '/api/v1/features/push',
    { view: 'product_stats', rows: [{ product_id: 'c1', ctr: 0.25, event_time: NOW - 1000 }] },
  ],
  [
    '/api/v1/feedback',
    {
      request_id: 'r-0',
      user: { user_id: 'u1' },
      events: [{ type: 'click', product: { product_id: 'c1' } }],
    },
  ],
];

const CONTROL = {
  request_id: 'control',
  query: { query: 'red shoe' },
  user: { user_id: 'u1' },
  device: 'phone',
  candidates: ['c1', 'c2', 'c3', 'c4'].map((product_id) => ({ product_id })),
};

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Damages bodies of requests. Each body gets an answer, never a 5xx, and later requests are answered as before. */
export const bodies: FuzzTarget = {
  name: 'bodies of requests',
  quick: 60,
  async open() {
    const root = await writeProject(FILES);
    const logged: string[] = [];
    const isAudit = (line: string): boolean => (JSON.parse(line) as { audit?: true }).audit === true;
    const write = (line: string): void => {
      if (!isAudit(line)) logged.push(line);
    };
    const logger = pino({ level: 'error' }, { write });
    const app = await createApp(loadSettings({}, { project: root }), {
      store: new MemoryStore(),
      logger,
      clock: () => NOW,
    });
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    const post = async (path: string, body: string | Buffer): Promise<Answer> => {
      const {
        statusCode,
        headers,
        body: answered,
      } = await request(`http://127.0.0.1:${server.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return { status: statusCode, type: String(headers['content-type']), text: await answered.text() };
    };
    for (const [path, body] of [...STORED, ...VALID]) {
      const { status, text } = await post(path, JSON.stringify(body));
      expect(status, `${path} ${text}`).to.equal(200);
    }
    const controls = async (): Promise<string[]> => {
      const texts = [];
      for (const path of ['/api/v1/search', '/api/v1/search/explain']) {
        const { status, text } = await post(path, JSON.stringify(CONTROL));
        expect(status, text).to.equal(200);
        texts.push(text.replace(/"(?:run_id|ms)":[^,}]+/g, ''));
      }
      return texts;
    };
    const before = await controls();
    const changed = fc.constantFrom(...VALID).chain(([path, body]) =>
      fc
        .oneof(
          {
            weight: 9,
            arbitrary: jsonEdits.map(({ what, apply }) => ({ what, content: Buffer.from(apply(body)) })),
          },
          {
            weight: 1,
            arbitrary: byteEdits.map(({ what, apply }) => ({
              what,
              content: apply(Buffer.from(JSON.stringify(body))),
            })),
          },
        )
        .map(({ what, content }) => ({ path, content, what: `${path}: ${what}` })),
    );
    return {
      run: always(changed, async ({ path, content }) => {
        expectAnswer(await post(path, content));
        expect(logged).to.deep.equal([]);
        expect(await controls()).to.deep.equal(before);
      }),
      async close() {
        await server.close(0);
        await app.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  },
};

function expectAnswer({ status, type, text }: Answer): void {
  const body = JSON.parse(text) as Record<string, unknown>;
  if (status === 200) {
    expect(type).to.match(/^application\/json/);
    return;
  }
  expect(status, text).to.be.within(400, 499);
  expect(type).to.match(/^application\/problem\+json/);
  expect(body).to.include({ status, type: `urn:millrace:problem:${String(body['code'])}` });
  for (const member of ['title', 'detail', 'request_id'])
    expect(body[member]).to.be.a('string').and.not.equal('');
  expect(text, 'a stack').not.to.match(/node:internal|\.js:\d|Cannot read|is not a function|stack size/);
  expect(text.length).to.be.below(60_000);
  for (const { pointer, code, detail } of (body['errors'] ?? []) as Record<string, string>[]) {
    expect(pointer).to.match(/^(\/.*)?$/s);
    expect(code).to.match(/^[a-z_]+$/);
    expect(detail).to.be.a('string').and.not.equal('');
  }
}
