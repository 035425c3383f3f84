/** The project that every mistake is made in. It has no error and no warning. */
export const BASE: Readonly<Record<string, string>> = {
  'millrace.yaml': `project: shop
store: embedded
port: 5001
queue_ms: 250ms
`,
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  rating: float
  number_in_stock: int
  brand: ref(brand)
  categories: list(string)
`,
  'schemas/entities/brand.yaml': `entity: brand
attributes:
  name: string
`,
  'schemas/features/product_stats.yaml': `view: product_stats
of: [product]
ttl: 30d
features:
  ctr_30d: float
  orders_30d: { type: int, default: 0 }
`,
  'schemas/features/user_brand.yaml': `view: user_brand
of: [user, brand]
features:
  clicks: int
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { search_score: float }
  query: optional(query)
  user: optional(user)
limits: { candidates: 1000, time: 500ms }
features:
  - product_stats
  - likes: user_brand(user, product.brand)
params:
  w_orders: { value: 0.2, min: 0, max: 1 }
define:
  popularity: log1p(product_stats:orders_30d)
components:
  - use: filter
    with: { keep: product.price > 0 }
  - use: text_match
    as: text
    with: { query: query.query, fields: { product.title: 2 } }
  - use: linear
    as: relevance
    with:
      weights: { text:bm25: 1, popularity: w_orders, product_stats:ctr_30d: 1 }
      missing: 0
  - use: score
    with: { value: relevance:score }
    unscored: last
  - use: boost
    with: { add: 0.1 * log1p(likes:clicks) }
  - use: bury
    with: { where: product.number_in_stock <= 0 }
page: { size: 24, max_size: 100 }
log: { share: 20%, unit: user, features: models }
`,
  'pipelines/next.yaml': `pipeline: next
rank: product
components:
  - use: score
    with: { value: product.rating }
`,
  'sinks/archive.yaml': `sink: archive
use: file
take: [ranking, feedback]
with: { keep: 30d }
`,
  'products.jsonl': `{"product_id":"p1","title":"tv","price":10}
{"product_id":"p2","title":"tv stand","price":20}
`,
  'judgments.csv': `query,product_id,grade
tv,p1,3
tv,p2,0
`,
};
