import type { JsonObject } from '../../ground/api/types.js';
import { Random } from '../../ground/core/random.js';
import { BRANDS, COLOURS, DEPARTMENTS, KINDS, type Kind } from './words.js';

/** The seed of the shop that `millrace demo` shows. */
export const DEMO_SEED = 20_240_501;

const PRODUCTS = 5000;
const USERS = 200;
/** The number of brands that each user clicked on. */
const BRANDS_CLICKED = 4;

export interface DemoProduct extends JsonObject {
  readonly product_id: string;
  readonly title: string;
  readonly brand: string;
  readonly category: string;
  readonly price: number;
  readonly number_in_stock: number;
}

export interface DemoBrand extends JsonObject {
  readonly brand_id: string;
  readonly name: string;
}

export interface DemoUser extends JsonObject {
  readonly user_id: string;
  readonly favourite_brand: string;
}

/** A generated shop: entities and feature rows with the types of the built-in project. */
export interface Catalogue {
  readonly brands: readonly DemoBrand[];
  readonly categories: readonly JsonObject[];
  readonly products: readonly DemoProduct[];
  readonly users: readonly DemoUser[];
  readonly queries: readonly JsonObject[];
  /** Rows by feature view. */
  readonly features: ReadonlyMap<string, readonly JsonObject[]>;
}

/** Generates a shop. The same seed always gives exactly the same shop. */
export function makeCatalogue(seed: number): Catalogue {
  const random = new Random(seed);
  const fame = BRANDS.map(() => random.around(0, 1));
  const products = Array.from({ length: PRODUCTS }, (_, at) => makeProduct(random, at));
  const users = Array.from({ length: USERS }, (_, at) => makeUser(random, at));
  return {
    brands: BRANDS.map((name, at) => ({ brand_id: brandId(at), name })),
    categories: [
      ...Object.entries(DEPARTMENTS).map(([id, name]) => ({ category_id: id, name })),
      ...KINDS.map(({ id, name, parent }) => ({ category_id: id, name, parent })),
    ],
    products,
    users,
    queries: KINDS.flatMap((kind) =>
      kind.qualities.flat().map((quality) => ({ query: `${quality} ${kind.nouns[0]}`, category: kind.id })),
    ),
    features: new Map([
      ['product_stats', products.map((product) => productStats(random, product, fame))],
      [
        'brand_stats',
        fame.map((share, at) => ({ brand_id: brandId(at), orders_30d: Math.round(900 * share ** 3) })),
      ],
      ['user_brand_stats', users.flatMap((user) => userBrandStats(random, user))],
    ]),
  };
}

function brandId(at: number): string {
  return `b${String(at + 1)}`;
}

function makeProduct(random: Random, at: number): DemoProduct {
  const kind = random.pick(KINDS);
  const brand = random.between(0, BRANDS.length - 1);
  const noun = random.pick(kind.nouns);
  const [first, second] = kind.qualities;
  const qualities = `${random.pick(first)} ${random.pick(second)}`;
  const colour = random.pick(COLOURS);
  return {
    product_id: `p${String(at + 1)}`,
    title: `${qualities} ${noun}, ${colour}`,
    description: describe(random, kind, noun, qualities),
    brand: brandId(brand),
    category: kind.id,
    categories: [kind.parent, kind.id],
    price: price(random, kind),
    number_in_stock: random.chance(0.12) ? 0 : random.between(1, 240),
    // A new product has no rating yet, so the attribute is absent.
    ...(random.chance(0.15) ? {} : { rating: Math.round(10 * random.around(2.4, 5)) / 10 }),
    colour,
  };
}

function describe(random: Random, kind: Kind, noun: string, qualities: string): string {
  const use = random.pick(kind.uses);
  const other = random.pick(kind.uses);
  const first = `A ${qualities} ${noun} made for ${use}`;
  return other === use ? `${first}.` : `${first}, and good for ${other} too.`;
}

function price(random: Random, kind: Kind): number {
  const [least, most] = kind.price;
  // The exponent makes most products cheap for their kind.
  return Math.floor(least + (most - least) * random.next() ** 2.2) + 0.99;
}

function makeUser(random: Random, at: number): DemoUser {
  return {
    user_id: `u${String(at + 1)}`,
    favourite_brand: brandId(random.between(0, BRANDS.length - 1)),
    favourite_category: random.pick(KINDS).id,
  };
}

function productStats(random: Random, product: DemoProduct, fame: readonly number[]): JsonObject {
  const share = fame[Number(product.brand.slice(1)) - 1] ?? 0;
  return {
    product_id: product.product_id,
    ctr_30d: Math.round(10_000 * random.around(0.005, 0.02 + 0.1 * share)) / 10_000,
    orders_30d: Math.round(60 * random.next() ** 3 * (0.2 + share)),
  };
}

/** A user clicks most on the favourite brand, and sometimes on a few others. */
function userBrandStats(random: Random, user: DemoUser): JsonObject[] {
  const brands = new Set([user.favourite_brand]);
  while (brands.size < BRANDS_CLICKED) brands.add(brandId(random.between(0, BRANDS.length - 1)));
  return [...brands].map((brand) => ({
    user_id: user.user_id,
    brand_id: brand,
    clicks_90d: brand === user.favourite_brand ? random.between(12, 60) : random.between(1, 9),
  }));
}
