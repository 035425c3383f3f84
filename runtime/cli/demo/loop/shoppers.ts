import type { JsonObject } from '../../../ground/api/types.js';
import { Random } from '../../../ground/core/random.js';
import { shuffled } from '../../../ground/core/shuffle.js';
import { BRANDS, COLOURS, KINDS } from '../words.js';

const PRODUCTS = 480;
const USERS = 200;
/** The candidates that the search engine of the shop finds for a query. */
const CANDIDATES = 24;
/** The places that a shopper sees. */
export const PAGE = 10;

/** How much tastes differ that no attribute tells: of a product for all shoppers, and of a shopper for a product. */
const HIDDEN_TASTE = 0.12;
/** A shopper looks at place k with the probability 1 / k^0.8. */
const LOOKS_LESS = 0.8;
/** A shopper who looks at a product clicks at least this often, whatever the product. */
const CLICKS_BY_MISTAKE = 0.02;

export interface ShopProduct extends JsonObject {
  readonly product_id: string;
  readonly title: string;
  readonly brand: string;
  readonly popularity: number;
  readonly rating: number;
  readonly discount: number;
}

interface Shopper extends JsonObject {
  readonly user_id: string;
  readonly favourite_brand: string;
}

/** What a shopper asks for, with what the search engine of the shop finds. */
export interface Search {
  readonly requestId: string;
  readonly user: Shopper;
  readonly query: ShopQuery;
  readonly candidates: readonly ShopProduct[];
}

interface ShopQuery {
  readonly text: string;
  readonly kind: string;
  readonly qualities: readonly [string, string];
}

/** What a shopper did on a page. */
export interface Visit {
  /** Products with their 1-based places. */
  readonly clicked: readonly { readonly product: ShopProduct; readonly place: number }[];
  readonly ordered: readonly ShopProduct[];
}

/** What makes shoppers like a product. The shop does not know it. */
interface Taste {
  readonly title: number;
  readonly rating: number;
  readonly brand: number;
  readonly popularity: number;
}

/**
 * A generated shop with simulated shoppers. What the shoppers like is hidden: only their clicks and orders tell it, and
 * those depend on the place of a product too. The same seed gives the same shop, and a search is the same for the same
 * number.
 */
export class Shoppers {
  readonly products: readonly ShopProduct[];
  readonly users: readonly Shopper[];
  readonly queries: readonly ShopQuery[];
  readonly #seed: number;
  readonly #taste: Taste;
  readonly #quality: ReadonlyMap<string, number>;
  readonly #prices: ReadonlyMap<string, number>;
  readonly #qualities = new Map<string, readonly string[]>();
  readonly #kinds = new Map<string, ShopProduct[]>();

  constructor(seed: number) {
    const random = new Random(seed);
    this.#seed = seed;
    this.products = Array.from({ length: PRODUCTS }, (_, at) => this.#makeProduct(random, at));
    this.users = Array.from({ length: USERS }, (_, at) => ({
      user_id: `u${String(at + 1)}`,
      favourite_brand: brandOf(random),
    }));
    this.queries = KINDS.flatMap(({ id, qualities: [first, second] }) =>
      first.flatMap((one) =>
        second.map((other) => ({ text: `${one} ${other}`, kind: id, qualities: [one, other] as const })),
      ),
    );
    this.#taste = {
      title: 1,
      rating: 0.8 + 0.4 * random.next(),
      brand: 0.5 + 0.4 * random.next(),
      popularity: 0.1 * random.next(),
    };
    this.#quality = new Map(
      this.products.map(({ product_id: id }) => [id, HIDDEN_TASTE * normal(random)] as const),
    );
    this.#prices = new Map(this.users.map(({ user_id: id }) => [id, 0.6 + 0.15 * normal(random)] as const));
  }

  /** The search with this number, in the order in which the search engine finds the candidates. */
  search(number: number): Search {
    const random = new Random(mixed(this.#seed, number));
    const user = this.users[random.between(0, USERS - 1)];
    const query = this.queries[random.between(0, this.queries.length - 1)];
    if (user === undefined || query === undefined) throw new Error('the shop is empty');
    return {
      requestId: `s${String(number)}`,
      user,
      query,
      candidates: shuffled(this.found(query), random.between(0, 2 ** 31)).slice(0, CANDIDATES),
    };
  }

  /** All products that fit a query. */
  found({ kind }: ShopQuery): readonly ShopProduct[] {
    return this.#kinds.get(kind) ?? [];
  }

  /** The probability that the shopper of a search clicks a product after looking at it. */
  appeal({ user, query }: Pick<Search, 'user' | 'query'>, product: ShopProduct): number {
    const { user_id: id } = user;
    const { product_id: productId } = product;
    const between = new Random(mixed(mixed(this.#seed, Number(id.slice(1))), Number(productId.slice(1))));
    const worth =
      this.#worth(query, product, this.#prices.get(id) ?? 0) +
      (product.brand === user.favourite_brand ? this.#taste.brand : 0) +
      HIDDEN_TASTE * normal(between);
    return probability(worth);
  }

  /** The grade, 0 to 3, that a person gives who judges products for a query, for no shopper in particular. */
  grade(query: ShopQuery, product: ShopProduct): number {
    const random = new Random(
      mixed(this.#seed + 1, this.queries.indexOf(query)) + Number(product.product_id.slice(1)),
    );
    const worth = this.#worth(query, product, 0.6) + HIDDEN_TASTE * normal(random);
    return Math.max(0, Math.min(3, Math.round(4 * probability(worth))));
  }

  /** A shopper looks at a page. */
  visit(search: Search, page: readonly ShopProduct[], number: number): Visit {
    const random = new Random(mixed(this.#seed + 2, number));
    const clicked: { readonly product: ShopProduct; readonly place: number }[] = [];
    const ordered: ShopProduct[] = [];
    page.slice(0, PAGE).forEach((product, at) => {
      const place = at + 1;
      const looks = random.chance(1 / place ** LOOKS_LESS);
      const appeal = this.appeal(search, product);
      const clicks = random.chance(Math.max(CLICKS_BY_MISTAKE, appeal));
      const orders = random.chance(appeal / 2);
      if (!looks || !clicks) return;
      clicked.push({ product, place });
      if (orders) ordered.push(product);
    });
    return { clicked, ordered };
  }

  /** What a product is worth to all shoppers. */
  #worth({ qualities }: ShopQuery, product: ShopProduct, discountCounts: number): number {
    const own = this.#qualities.get(product.product_id) ?? [];
    const { title, rating, popularity } = this.#taste;
    return (
      (title * qualities.filter((one) => own.includes(one)).length) / qualities.length +
      (rating * (product.rating - 1)) / 4 +
      discountCounts * product.discount +
      popularity * product.popularity +
      (this.#quality.get(product.product_id) ?? 0)
    );
  }

  #makeProduct(random: Random, at: number): ShopProduct {
    const kind = KINDS[at % KINDS.length] ?? KINDS[0];
    const qualities = [random.pick(kind.qualities[0]), random.pick(kind.qualities[1])] as const;
    const product = {
      product_id: `p${String(at + 1)}`,
      title: `${qualities.join(' ')} ${random.pick(kind.nouns)}, ${random.pick(COLOURS)}`,
      brand: brandOf(random),
      popularity: round(random.next() ** 2, 3),
      rating: round(Math.max(1, Math.min(5, 3 + normal(random))), 1),
      discount: random.chance(0.4) ? round(random.next(), 2) : 0,
    };
    this.#qualities.set(product.product_id, qualities);
    this.#kinds.set(kind.id, [...(this.#kinds.get(kind.id) ?? []), product]);
    return product;
  }
}

function brandOf(random: Random): string {
  // A few brands only, so that a shopper finds the favourite one in most results.
  return `b${String(random.between(1, BRANDS.length / 2))}`;
}

/** The appeal of a product by its worth: about 0.01 to 0.9. */
function probability(worth: number): number {
  return 1 / (1 + Math.exp(-5 * (worth - 2)));
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** One seed of two numbers. */
function mixed(a: number, b: number): number {
  return Math.floor(new Random(Math.imul(a, 0x9e3779b1) ^ b).next() * 2 ** 32);
}

/** A standard normal number. Source: Box and Muller, Annals of Mathematical Statistics 1958. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
