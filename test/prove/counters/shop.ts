/** The shop of the proof: 40 products of 5 brands, with counters whose values come back in one score. */
export const PRODUCTS = Array.from({ length: 40 }, (_, i) => `p${i}`);

const BRANDS = 5;

export const brandOf = (product: string): string => `b${Number(product.slice(1)) % BRANDS}`;

/** Counts below 10^5, 10^5 and 10^5 fit into one score, which is exact. */
const [ITEMS, CLICKS_OF_BRAND] = [1e5, 1e10];

export const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/counters/brand_live.yaml':
    'counter: brand_live\nof: [brand]\nby: [product.brand]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'schemas/counters/product_live.yaml':
    'counter: product_live\nof: [product]\nfeatures: { clicks: { event: click, window: 7d }, items: { event: click, window: 7d, value: sum(quantity) } }\n',
  'schemas/counters/site.yaml': 'counter: site\nof: []\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: {}
features: [product_live, brand: brand_live(product.brand)]
components:
  - use: score
    with: { value: 'product_live:clicks + ${ITEMS} * product_live:items + ${CLICKS_OF_BRAND} * brand:clicks' }
`,
};

/** What the service answers for a product. */
export interface Counted {
  readonly clicks: number;
  readonly items: number;
  readonly clicksOfBrand: number;
}

export function countedOf(score: number): Counted {
  return {
    clicks: score % ITEMS,
    items: Math.floor(score / ITEMS) % (CLICKS_OF_BRAND / ITEMS),
    clicksOfBrand: Math.floor(score / CLICKS_OF_BRAND),
  };
}

/** Counts events in the plainest way. */
export class Oracle {
  readonly #counts = new Map<string, number>();

  add(product: string, quantity: number): void {
    for (const [key, amount] of [
      [`clicks ${product}`, 1],
      [`items ${product}`, quantity],
      [`clicks ${brandOf(product)}`, 1],
    ] as const)
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + amount);
  }

  of(product: string): Counted {
    const count = (key: string): number => this.#counts.get(key) ?? 0;
    return {
      clicks: count(`clicks ${product}`),
      items: count(`items ${product}`),
      clicksOfBrand: count(`clicks ${brandOf(product)}`),
    };
  }
}
