import { expect } from 'chai';
import { join } from 'node:path';
import { millrace } from '../support/command-line.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post } from './harness.js';
import { serveProject } from './serve-project.js';

const PROJECT = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  on_sale: bool
  since: timestamp
  tags: list(string)
  taste: vector(2)
  brand: ref(brand)
  cost: { type: float, private: true }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, fame: float }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { heat: float, seen: int, note: string }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: { bonus: float }, query: optional(query), limit: optional(float) }
features: [product_stats]
page: { size: 24, max_size: 100 }
components:
  - use: score
    with:
      value: >-
        coalesce(product.price, 0) + coalesce(product.bonus, 0) + coalesce(product.brand.fame, 0) + coalesce(request.limit, 0)
        + coalesce(if(product.on_sale, 100, 0), 0) + coalesce(if(product.title == "123", 1000, 0), 0) + coalesce(product_stats:heat, 0)
        + coalesce(product.stock, 0) + 0 * coalesce(product.cost, 0)
`,
  'pipelines/worth.yaml': `pipeline: worth
score: product
request: { limit: optional(float) }
components: [{ use: score, with: { value: "product.price + coalesce(request.limit, 0)" } }]
`,
};

interface Body {
  readonly path: string;
  readonly body: object;
  /** How many values are converted. */
  readonly coerced: number;
  /** The places of the violations in a strict project. */
  readonly refused: readonly string[];
}

/** One of each kind. */
const BODIES: readonly Body[] = [
  {
    path: '/api/v1/ranking',
    body: {
      candidates: [
        {
          product_id: 'p1',
          price: ' 12.5 ',
          on_sale: 'yes',
          title: 123,
          bonus: '1',
          brand: { brand_id: 2.5, fame: '3' },
        },
        { product_id: 1.5, price: true },
      ],
      user_page: '0',
      user_page_size: '2',
      include_events: 'no',
      limit: '0.5',
    },
    coerced: 12,
    refused: [
      '/candidates/0/price',
      '/candidates/0/on_sale',
      '/candidates/0/title',
      '/candidates/0/bonus',
      '/candidates/0/brand/brand_id',
      '/candidates/0/brand/fame',
      '/candidates/1/product_id',
      '/candidates/1/price',
      '/limit',
      '/user_page',
      '/user_page_size',
      '/include_events',
    ],
  },
  {
    path: '/api/v1/worth',
    body: { product: { product_id: 'p1', price: '2' }, limit: true },
    coerced: 2,
    refused: ['/product/price', '/limit'],
  },
  {
    path: '/api/v1/entities/upload',
    body: {
      entity_type: 'product',
      entities: [
        {
          product_id: 'p2',
          title: 123,
          price: '12.5',
          stock: '1_0.0',
          on_sale: 1,
          since: '1769851800000',
          tags: [1, 'a'],
          taste: ['1', true],
          brand: { brand_id: 'b1', name: 'x' },
        },
      ],
    },
    coerced: 9,
    refused: ['title', 'price', 'stock', 'on_sale', 'since', 'tags/0', 'taste/0', 'brand'].map(
      (name) => `/entities/0/${name}`,
    ),
  },
  {
    path: '/api/v1/entities/update',
    body: { entity_type: 'product', entities: [{ product_id: 'p3', price: '7' }], create: 'true' },
    coerced: 2,
    refused: ['/entities/0/price', '/create'],
  },
  {
    path: '/api/v1/features/push',
    body: {
      view: 'product_stats',
      rows: [{ product_id: 'p3', heat: '1.5', seen: true, note: 7, event_time: '1769851800000' }],
    },
    coerced: 4,
    refused: ['event_time', 'heat', 'seen', 'note'].map((name) => `/rows/0/${name}`),
  },
  {
    path: '/api/v1/features/push',
    body: { view: 'product_stats', rows: [{ product_id: 'p4', heat: '2' }], increment: 'on' },
    coerced: 2,
    refused: ['/rows/0/heat', '/increment'],
  },
];

const PRODUCTS = [
  { product_id: 'p1', price: '1', title: 2 },
  { product_id: 'p2', price: 'dear', title: 2 },
  { product_id: 'p3', price: '3' },
]
  .map((product) => JSON.stringify(product))
  .join('\n');

const coercedBy = (headers: Headers): string | null => headers.get('millrace-coerced');
type Environment = Readonly<Record<string, string>>;

const LAX = { MILLRACE_ACCEPT: 'lax' };
const serve = (env: Environment, use: (url: string) => Promise<void>): Promise<void> =>
  withFiles(PROJECT, (root) => serveProject(root, use, undefined, env));

describe('accept: lax', () => {
  it('converts values of rankings, scores, uploads, updates and pushes, and says how many', () =>
    serve(LAX, async (url) => {
      for (const { path, body, coerced } of BODIES) {
        const { status, text, headers } = await post(url + path, body);
        expect(status, text).to.equal(200);
        expect(coercedBy(headers), path).to.equal(String(coerced));
      }
      const { json } = await post(`${url}/api/v1/entities/get`, {
        entity_type: 'product',
        entity_ids: ['p2', 'p3'],
      });
      expect(json?.entities).to.deep.equal({
        p2: {
          product_id: 'p2',
          title: '123',
          price: 12.5,
          stock: 10,
          on_sale: true,
          since: 1769851800000,
          tags: ['1', 'a'],
          taste: [1, 1],
          brand: 'b1',
        },
        p3: { product_id: 'p3', price: 7 },
      });
      const metrics = (await call(`${url}/metrics`)).text;
      expect(metrics).to.contain('millrace_pipeline_coerced_values_total{pipeline="ranking"} 12');
      expect(metrics).to.contain('millrace_pipeline_coerced_values_total{pipeline="worth"} 2');
      for (const [body, values] of Object.entries({ upload: 9, update: 2, push: 6 }))
        expect(metrics).to.contain(`millrace_write_coerced_values_total{body="${body}"} ${values}`);
    }));

  it('says of imports how many values were converted, and counts no refused body', () =>
    withFiles({ ...PROJECT, 'products.jsonl': PRODUCTS }, async (root) => {
      const env = { ...LAX, MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
      const load = ['entities', 'load', 'product', join(root, 'products.jsonl'), '--project', root];
      const own = await millrace(load, { env });
      expect(own.stdout).to.match(/2 product entities .*, 1 refused, 3 values converted\n$/);
      await serveProject(
        root,
        async (url) => {
          const { stdout } = await millrace([...load, '--url', url, '--json'], { env });
          expect(JSON.parse(stdout)).to.include({ loaded: 2, refused: 1, coerced: 3 });
          const metrics = (await call(`${url}/metrics`)).text;
          expect(metrics).to.contain('millrace_write_coerced_values_total{body="upload"} 3');
        },
        undefined,
        LAX,
      );
    }));

  it('ranks and scores with the converted values', () =>
    serve(LAX, async (url) => {
      const [ranking, worth] = BODIES;
      const ranked = await post(`${url}/api/v1/ranking`, ranking?.body ?? {});
      expect(ranked.json?.ranked_candidates).to.deep.equal([
        { candidate_id: 'p1', ranked_score: 12.5 + 100 + 1000 + 1 + 3 + 0.5 },
        { candidate_id: '1.5', ranked_score: 1.5 },
      ]);
      expect((await post(`${url}/api/v1/worth`, worth?.body ?? {})).json).to.deep.include({ score: 3 });
    }));

  it('is not the default: a strict project refuses each of them, and converts nothing', async () => {
    for (const env of [{}, { MILLRACE_ACCEPT: 'strict' }])
      await serve(env, async (url) => {
        for (const { path, body, refused } of BODIES) {
          const { status, json, headers } = await post(url + path, body);
          const errors = json?.errors as readonly { pointer: string }[];
          expect(status, path).to.equal(422);
          // A field of the body itself may be refused before or after its list.
          for (const { pointer } of errors) expect(refused, path).to.include(pointer);
          expect(coercedBy(headers)).to.equal(null);
        }
      });
  });

  it('says the same as a strict project of what no rule converts, and hides private values', async () => {
    const bodies = [
      [
        '/api/v1/ranking',
        { candidates: [{ product_id: 'p1', price: 'dear', cost: 'secret', title: true }], user_page: 0.5 },
      ],
      ['/api/v1/ranking', { candidates: 'p1' }],
      ['/api/v1/ranking', { candidates: ['p1', null] }],
      ['/api/v1/ranking', [1]],
      ['/api/v1/worth', { product: 'p1' }],
      [
        '/api/v1/entities/upload',
        { entity_type: 'product', entities: [{ product_id: '', cost: 'secret', brand: {} }, 'p1'] },
      ],
      ['/api/v1/entities/upload', { entity_type: 'product', entities: { product_id: 'p1' } }],
      ['/api/v1/entities/update', { entity_type: 'product', entities: [{ title: [1] }], create: 'perhaps' }],
      [
        '/api/v1/features/push',
        { view: 'product_stats', rows: [{ product_id: 'p1', heat: 'hot', event_time: 'now' }, 7] },
      ],
      ['/api/v1/features/push', { view: 'product_stats', rows: 1 }],
    ] as const;
    const answers: unknown[][] = [];
    for (const env of [{}, LAX])
      await serve(env, async (url) => {
        const found: unknown[] = [];
        for (const [path, body] of bodies) {
          const { status, json } = await post(url + path, body);
          expect(status).to.equal(422);
          expect(JSON.stringify(json)).not.to.contain('secret');
          found.push({ ...json, request_id: undefined, instance: undefined });
        }
        answers.push(found);
      });
    expect(answers[1]).to.deep.equal(answers[0]);
  });

  it('leaves a body that is valid as it is, without the header', () =>
    serve(LAX, async (url) => {
      const { status, headers, json } = await post(`${url}/api/v1/ranking`, {
        candidates: [{ product_id: 7, price: 1, brand_id: 'b1', tags: null }, { product_id: 'p2' }],
        colour: '1',
      });
      expect([status, coercedBy(headers)]).to.deep.equal([200, null]);
      expect(json?.ranked_candidates).to.have.length(2);
      const ids = Array.from({ length: 500 }, (_, i) => ({ product_id: `product-${i}` }));
      const many = await post(`${url}/api/v1/ranking`, { candidates: ids });
      expect([many.status, coercedBy(many.headers)]).to.deep.equal([200, null]);
      const { json: explained } = await post(`${url}/api/v1/ranking/explain`, {
        candidates: ids.slice(0, 3),
      });
      expect(explained).not.to.have.property('coerced_fields');
    }));

  it('lists the fields in an explanation', () =>
    serve(LAX, async (url) => {
      const { json } = await post(`${url}/api/v1/ranking/explain`, {
        candidates: [
          { product_id: 'p1', price: '1', brand: { fame: '2' } },
          { product_id: 'p2', price: '3' },
        ],
        user_page: '0',
      });
      expect(json?.['coerced_fields']).to.deep.equal([
        { field: 'candidates.price', times: 2 },
        { field: 'candidates.brand.fame', times: 1 },
        { field: 'user_page', times: 1 },
      ]);
    }));

  it('keeps a large body in order', () =>
    serve(LAX, async (url) => {
      const candidates = Array.from({ length: 1000 }, (_, i) => ({
        product_id: `p${i}`,
        price: String(1000 - i),
        title: 'x'.repeat(200),
        tags: [i, String(i)],
      }));
      const { status, text, json, headers } = await post(`${url}/api/v1/ranking`, { candidates });
      expect(status, text).to.equal(200);
      expect(coercedBy(headers)).to.equal('2000');
      expect((json?.ranked_candidates as object[])[1]).to.deep.equal({
        candidate_id: 'p1',
        ranked_score: 999,
      });
      const entities = candidates.map((one) => ({ ...one, title: 'x'.repeat(2000) }));
      const upload = await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities });
      expect([upload.status, coercedBy(upload.headers)]).to.deep.equal([200, '2000']);
    }));
});
