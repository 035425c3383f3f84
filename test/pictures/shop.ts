import { Random } from '../../runtime/ground/core/random.js';
import type { MadeLedger } from '../support/made-ledger.js';
import { MadeLedger as Ledger, START } from '../support/made-ledger.js';

/** The host of the images, which the browser of the pictures answers itself. */
export const IMAGE_HOST = 'cdn.shop.example';

const BRANDS = ['Lumen', 'Nord', 'Kolibri', 'Ferro', 'Astra'] as const;
/** What the shop sells: the word in titles, the word of English queries, the category, and the lowest price. */
const KINDS = [
  {
    title: 'Fernseher',
    english: 'tv',
    category: 'tv',
    price: 299,
    sizes: ['43 Zoll', '55 Zoll OLED', '65 Zoll'],
  },
  {
    title: 'Kopfhörer',
    english: 'headphones',
    category: 'audio',
    price: 39,
    sizes: ['In-Ear', 'Over-Ear', 'Sport'],
  },
  {
    title: 'Laptop',
    english: 'notebook',
    category: 'laptop',
    price: 549,
    sizes: ['13 Zoll', '14 Zoll Pro', '16 Zoll'],
  },
  {
    title: 'Zelt',
    english: 'tent',
    category: 'outdoor',
    price: 79,
    sizes: ['2 Personen', '3 Personen', '5 Personen'],
  },
  {
    title: 'Rucksack',
    english: 'backpack',
    category: 'outdoor',
    price: 49,
    sizes: ['20 Liter', '35 Liter', '60 Liter'],
  },
  {
    title: 'Mixer',
    english: 'blender',
    category: 'küche',
    price: 29,
    sizes: ['500 Watt', '900 Watt', '1.200 Watt'],
  },
] as const;
const LONG =
  'Rucksack Nord Wasserdichter Trekkingrucksack mit abnehmbarem Regenschutz, Donaudampfschifffahrtsgesellschaftskapitänsmützenhalterung und dreißig Fächern';
const PER_KIND = 200;

export interface ShopProduct {
  readonly product_id: string;
  readonly title: string;
  readonly brand: string;
  readonly category: string;
  readonly keywords: string;
  readonly image_url: string;
  readonly price: number;
  readonly rating: number;
  readonly sold: number;
  readonly stock: number;
  readonly ean: string;
}

/** 1,200 products in six groups. The third television is sold out, and the second backpack has a very long title. */
export const PRODUCTS: readonly ShopProduct[] = madeProducts();

function madeProducts(): ShopProduct[] {
  const random = new Random(7);
  return KINDS.flatMap(({ title, english, category, price, sizes }, kind) =>
    Array.from({ length: PER_KIND }, (_, at) => {
      const number = kind * PER_KIND + at;
      const brand = BRANDS[at % BRANDS.length] ?? 'Nord';
      const size = sizes[at % sizes.length] ?? '';
      return {
        product_id: `p${number}`,
        title: number === 4 * PER_KIND + 1 ? LONG : `${title} ${brand} ${size} ${100 + at}`,
        ...{ brand, category, keywords: english },
        image_url: `https://${IMAGE_HOST}/${kind}/${at % BRANDS.length}/${number}.svg`,
        price: Math.round((price * (1 + at / 90) - 0.01) * 100) / 100,
        rating: Math.round((3 + 2 * random.next()) * 10) / 10,
        sold: Math.floor(400 * random.next() ** 2),
        stock: number === 2 ? 0 : 1 + Math.floor(60 * random.next()),
        ean: `40000000${String(number).padStart(5, '0')}`,
      };
    }),
  );
}

/** A picture of each kind of product, in the colour of its brand. */
export function imageOf(path: string): string {
  const [, kind = '0', brand = '0'] = path.split('/');
  const shapes = [
    '<rect x="12" y="22" width="76" height="46" rx="3"/><path d="M38 78h24M50 68v10" stroke-width="5"/>',
    '<path d="M22 62V50a28 28 0 0 1 56 0v12" fill="none" stroke-width="7"/><rect x="15" y="54" width="16" height="26" rx="6"/><rect x="69" y="54" width="16" height="26" rx="6"/>',
    '<rect x="22" y="24" width="56" height="38" rx="3"/><path d="M12 70h76l-5 8H17z"/>',
    '<path d="M50 20 88 78H12z"/><path d="M50 45 64 78H36z" fill="#fff"/>',
    '<rect x="28" y="28" width="44" height="54" rx="12"/><rect x="36" y="52" width="28" height="20" rx="4" fill="#fff"/><path d="M40 28a10 10 0 0 1 20 0" fill="none" stroke-width="5"/>',
    '<path d="M34 18h32l-5 44H39z"/><rect x="34" y="64" width="32" height="18" rx="4"/>',
  ];
  const colours = ['#c2410c', '#1d4ed8', '#15803d', '#44403c', '#7e22ce'];
  const colour = colours[Number(brand)] ?? '#333';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><g fill="${colour}" stroke="${colour}">${shapes[Number(kind)] ?? ''}</g></svg>`;
}

const pipeline = (name: string, params: string, value: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(query), category: optional(string), user: optional(user) }
limits: { candidates: 2000 }
${params}retrieve:
  - { use: words, as: found, when: known(query.query), with: { query: query.query, fields: { product.title: 3, product.keywords: 1 } } }
  - { use: words, as: shelf, when: known(request.category), with: { query: request.category, fields: { product.category: 1 } } }
components:
  - { use: filter, as: in_stock, with: { keep: product.stock > 0 } }
  - { use: score, with: { value: '${value}' } }
  - { use: curation, with: { list: campaigns, reads: [product.brand, product.stock] } }
page: { size: 24, max_size: 1000 }
log: { candidates: all, features: all, unit: user }
`;

/** 12 queries of each of two languages. */
const QUERIES = BRANDS.flatMap((brand) =>
  KINDS.slice(0, 5).map(({ title, english }, at) => ({
    query: `${at % 2 === 0 ? title : english} ${brand}`.toLowerCase(),
    language: at % 2 === 0 ? 'de' : 'en',
    brand,
    kind: title,
  })),
).slice(0, 24);

/** People prefer what sells, except that they look for cheap products in every fifth query. */
function judgments(): string {
  const rows = QUERIES.flatMap(({ query, language, brand, kind }, number) => {
    const found = PRODUCTS.filter((one) => one.title.startsWith(`${kind} ${brand}`) && one.stock > 0);
    const worth = (one: ShopProduct): number => (number % 5 === 4 ? -one.price : one.sold);
    return found
      .toSorted((a, b) => worth(b) - worth(a))
      .slice(0, 20)
      .map(({ product_id: id }, at) => `${query},${id},${at < 3 ? 3 : at < 8 ? 1 : 0},${language}`);
  });
  return ['query,id,grade,language', ...rows, ''].join('\n');
}

const PARAMS = `params:
  # What the price counts.
  w_price: { value: 0.2, min: 0, max: 1 }
  w_rating: { value: 40, min: 0, max: 100 }
  w_lumen: { value: 0, min: 0, max: 200 } # the brand Lumen
  w_sold: 0
`;

/** A shop with two pipelines, campaigns, judgments and an experiment. */
export const SHOP: Readonly<Record<string, string>> = {
  'millrace.yaml': `project: shop
time_zone: Europe/Berlin
image_hosts: [${IMAGE_HOST}]
events: { impression: {}, click: {}, order: { revenue: float } }
`,
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
display: { title: title, image: image_url, subtitle: brand, badges: [price, stock] }
attributes:
  { title: string, brand: string, category: string, keywords: string, image_url: string, price: float, rating: float, sold: int, stock: int, ean: string }
`,
  'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite: string }\n',
  'pipelines/shop.yaml': pipeline(
    'shop',
    PARAMS,
    '100 + w_rating * product.rating - w_price * product.price + if(product.brand == "Lumen", w_lumen, 0) + w_sold * product.sold + if(coalesce(product.brand == user.favourite, false), 100, 0)',
  ),
  'pipelines/shop_new.yaml': pipeline('shop_new', '', 'product.sold + 5 * product.rating'),
  'curation/campaigns.yaml': `curation: campaigns
campaigns:
  recall:
    hide: [p8]
    note: recalled
  headphone_week:
    on: { category: [audio] }
    pin: { 7: p214 }
`,
  'experiments/popularity.yaml': `experiment: popularity
pipeline: shop
unit: user
arms: { control: {}, popular: { params: { w_sold: 0.5 } } }
metrics: { primary: { event: order, value: sum(revenue), within: 7d, adjust: { before: 14d } }, guard: [latency_p99] }
`,
  'judgments/test.csv': judgments(),
  'judgments/broken.csv': 'query,grade\nfernseher,1\n',
};

/** What was asked for: pages of televisions by category, and of backpacks by query. */
export function loggedRequests(): MadeLedger {
  const ledger = new Ledger();
  for (let at = 0; at < 40; at++) {
    const isTv = at % 2 === 0;
    const ids = Array.from({ length: 24 }, (_, number) => `p${(isTv ? 0 : 4 * PER_KIND) + number}`);
    ledger.ranking(
      {
        ...{ request: `asked-${at}`, time: START + at, candidates: ids.map((id) => ({ id })) },
        ...(isTv ? { values: { 'request.category': 'tv' } } : { entities: ['query=rucksack'] }),
      },
      { request: { 'request.category': 'text' } },
      { pipeline: 'shop' },
    );
  }
  return ledger;
}
