/** A project whose pipeline logs attributes, counters of every form, and interactions. */
export const PROJECT: Readonly<Record<string, string>> = {
  'millrace.yaml': `project: shop
store: embedded
events: { impression: {}, click: {}, cart: {}, order: { revenue: float } }
`,
  'schemas/entities/product.yaml': `entity: product
attributes: { brand: ref(brand), price: float }
`,
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/counters/product_live.yaml': `counter: product_live
of: [product]
features:
  clicks_7d: { event: click, window: 7d }
  heat: { event: click, half_life: 2d }
  revenue_30d: { event: order, window: 30d, value: sum(revenue) }
  buyers: { event: order, window: 30d, value: distinct(user) }
  last_click: { event: click, value: last(time) }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 20, mean: global } }
  lift: { event: click, over: impression, window: 7d, expected: true }
`,
  'schemas/counters/brand_live.yaml': `counter: brand_live
of: [brand]
by: [product.brand]
features: { clicks_7d: { event: click, window: 7d } }
`,
  'schemas/counters/pair_live.yaml': `counter: pair_live
of: [user, brand]
by: [user, product.brand]
features: { clicks_14d: { event: click, window: 14d } }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { user: optional(user) }
params:
  w_price: { value: 0, min: -1, max: 1 }
  w_ctr: { value: 0, min: 0, max: 30 }
  w_brand: { value: 0, min: 0, max: 3 }
features:
  - product_live
  - brand_now: brand_live(product.brand)
  - pair: pair_live(user, product.brand)
components:
  - use: interaction
    as: seen
    with: { of: user, with: product, outputs: { recently: { event: impression, window: 2d } } }
  - use: interaction
    as: liked
    with:
      of: user
      with: product.brand
      outputs:
        clicks_7d: { event: click, window: 7d }
        bought: { event: order, window: 30d, value: has }
  - use: score
    with:
      value: w_price * coalesce(product.price, 0) / 50 + w_ctr * coalesce(product_live:ctr, 0) + w_brand * log1p(coalesce(pair:clicks_14d, 0))
log: { candidates: all, features: [models, product.brand, product.price, product_live, brand_now, pair, "seen:recently", "liked:clicks_7d", "liked:bought"], unit: user }
`,
};
