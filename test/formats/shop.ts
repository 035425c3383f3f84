/**
 * A project and the data that a version writes for it, with a value of every type. The fixtures of earlier versions and
 * the proof `rollback` use it, so everything here is also valid for version 0.1.0.
 */

export const SHOP_FILES: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  fresh: bool
  listed: timestamp
  taste: vector(3)
  tags: list(string)
  brand: ref(brand)
  related: list(ref(product))
  seller: { record: { name: string, since: int } }
  variants: { list: { colour: string, size: float } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, weight: float }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { orders: int, ctr: float, taste: vector(2), note: string, hot: bool }\n',
  'schemas/features/product_stock.yaml': 'view: product_stock\nof: [product]\nfeatures: { left: int }\n',
  'schemas/features/user_brand.yaml':
    'view: user_brand\nof: [user, brand]\nfeatures: { clicks: { type: int, default: 0 } }\n',
  'schemas/features/season.yaml': 'view: season\nof: []\nfeatures: { warmth: float }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: user }
features:
  - product_stats
  - product_stock
  - season
  - taken: user_brand(user, product.brand)
components:
  - use: interaction
    as: seen
    with:
      of: user
      with: product.brand
      outputs:
        clicks: { event: click, window: 366d }
        bought: { event: order, window: 366d, value: items }
  - use: score
    with:
      value: >-
        coalesce(product.price, 0) + 2 * coalesce(product.stock, 0) + coalesce(product.brand.weight, 0)
        + coalesce(product_stats:orders, 0) + coalesce(product_stats:ctr, 0) + 3 * coalesce(product_stock:left, 0)
        + coalesce(season:warmth, 0) + coalesce(taken:clicks, 0) + 100 * coalesce(seen:clicks, 0)
        + 1000 * coalesce(seen:bought, 0) + count(product.tags) + count(product.variants.colour)
`,
};

/** The path and the body of a request. */
export type Call = readonly [path: string, body: object];

const BRANDS = ['lumen', 'halcyon', 'Ångström', 'a:b,c'];
const EVENT_TIME = Date.UTC(2026, 0, 31, 12);

const PRODUCTS = Array.from({ length: 40 }, (_, i) => ({
  product_id: i % 7 === 0 ? `p:${i}` : `p${i}`,
  title: i % 3 === 0 ? `Kettle №${i}` : `kettle ${i}`,
  price: i + 0.1,
  stock: i % 5 === 0 ? null : i,
  fresh: i % 2 === 0,
  listed: i % 4 === 0 ? '2026-01-31T12:00:00Z' : EVENT_TIME + i,
  taste: i % 2 === 0 ? [0.5, -1, i] : [0.1, 1 / 3, i],
  tags: i % 6 === 0 ? [] : ['tea', `t${i}`],
  [i % 2 === 0 ? 'brand' : 'brand_id']: BRANDS[i % BRANDS.length],
  related: [`p${i + 1}`],
  seller: { name: 'S', since: 1990 + i },
  variants: [{ colour: 'red', size: 1.5 }, { colour: 'blue' }].slice(0, i % 3),
  undeclared: { deep: [i, null, 'x'] },
}));
const USERS = ['ada', 'bob:1'];

/** What is written; each call may be sent to another instance. */
export const SHOP_WRITES: readonly Call[] = [
  ['/api/v1/entities/upload', { entity_type: 'product', entities: PRODUCTS }],
  [
    '/api/v1/entities/upload',
    {
      entity_type: 'brand',
      entities: BRANDS.map((brand_id, i) => ({ brand_id, name: `B ${i}`, weight: i / 8 })),
    },
  ],
  [
    '/api/v1/features/push',
    {
      view: 'product_stats',
      rows: PRODUCTS.map(({ product_id }, i) => ({
        product_id,
        orders: i,
        ctr: i / 64,
        taste: [i, 0.1],
        ...(i % 2 === 0 ? { note: `n${i}` } : { hot: i % 3 === 0 }),
        event_time: EVENT_TIME + i,
      })),
    },
  ],
  [
    '/api/v1/features/push',
    {
      view: 'product_stock',
      rows: PRODUCTS.slice(5).map(({ product_id }, left) => ({ product_id, left, event_time: EVENT_TIME })),
    },
  ],
  [
    '/api/v1/features/push',
    {
      view: 'user_brand',
      rows: USERS.flatMap((user_id) =>
        BRANDS.map((brand_id, i) => ({ user_id, brand_id, clicks: i, event_time: EVENT_TIME })),
      ),
    },
  ],
  ['/api/v1/features/push', { view: 'season', rows: [{ warmth: 0.25, event_time: EVENT_TIME }] }],
  ...USERS.flatMap((user_id, u): Call[] =>
    ['click', 'order'].map((type) => [
      '/api/v1/feedback',
      {
        request_id: `f-${user_id}-${type}`,
        user: { user_id },
        events: PRODUCTS.slice(0, 6 + u).map(({ product_id }) => ({ type, product: { product_id } })),
      },
    ]),
  ),
];

const IDS = [...PRODUCTS.map(({ product_id }) => product_id), 'none'];

/** What is asked; every version gives the same answers. */
export const SHOP_QUESTIONS: readonly Call[] = [
  ['/api/v1/entities/get', { entity_type: 'product', entity_ids: IDS }],
  ['/api/v1/entities/get', { entity_type: 'brand', entity_ids: BRANDS }],
  [
    '/feature/get-online-features',
    {
      features: ['orders', 'ctr', 'note', 'hot']
        .map((name) => `product_stats:${name}`)
        .concat('product_stock:left'),
      entities: { product_id: IDS },
    },
  ],
  [
    '/feature/get-online-features',
    {
      features: ['user_brand:clicks'],
      entities: {
        user_id: USERS.flatMap((user) => BRANDS.map(() => user)),
        brand_id: [...BRANDS, ...BRANDS],
      },
    },
  ],
  ...[...USERS, 'nobody'].map((user_id): Call => [
    '/api/v1/ranking',
    {
      request_id: 'r',
      user: { user_id },
      candidates: IDS.map((product_id) => ({ product_id })),
      user_page_size: 100,
      candidate_page_size: 100,
    },
  ]),
];

/** The ids of the products that are in every answer. */
export const SHOP_IDS: readonly string[] = IDS;

/** Sends a call to a service. @throws Error unless the answer is 200 */
export async function send(base: string, [path, body]: Call): Promise<unknown> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** The answers to all questions, without what differs from run to run. */
export async function answersOf(base: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const question of SHOP_QUESTIONS) {
    const answer = (await send(base, question)) as Record<string, unknown>;
    answers.push(question[0] === '/api/v1/ranking' ? answer['ranked_candidates'] : answer);
  }
  return answers;
}
