import type { ShopMoment } from './shop-log.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A window of a counter is cut into so many buckets (docs/counters.md). */
const BUCKETS = 24;
/** The first positions of the classes that `expected` compares; class 0 has no position. */
const CLASSES = [1, 2, 3, 4, 6, 9, 13, 21];
const PRIOR = 20;

interface Past {
  readonly kind: 'impression' | 'click' | 'order';
  readonly time: number;
  readonly user: string;
  readonly product: string;
  /** The brand of the product at that time. */
  readonly brand: string;
  readonly position: number | undefined;
  readonly revenue: number;
}

/** The rates of all products together, in all positions and in each class of them. */
interface Rates {
  readonly time: number;
  readonly ctr: number;
  readonly byClass: readonly number[];
}

/** The values of a candidate by their names in the ledger; undefined: it is missing. */
export type OracleRow = Readonly<Record<string, number | string | undefined>>;

/**
 * What every column of the project of this proof is at a time, by its definition alone: it keeps all events, and counts
 * them anew for each list.
 */
export class Oracle {
  readonly #all: Past[] = [];
  readonly #byProduct = new Map<string, Past[]>();
  readonly #byBrand = new Map<string, Past[]>();
  readonly #byUser = new Map<string, Past[]>();
  readonly #items = new Map<string, { readonly brand: string; readonly price: number }>();
  readonly #hasPositions: boolean;
  #waiting: ShopMoment[] = [];
  /** Of all products together, at the time of the last list. */
  #rates: Rates | undefined;

  /** @param hasPositions whether clicks of the log have positions */
  constructor(hasPositions: boolean) {
    this.#hasPositions = hasPositions;
  }

  /** Learns of a moment. Call it in the order of `inTime`. */
  learn(moment: ShopMoment): void {
    if (moment.is === 'item') this.#items.set(moment.product, moment);
    // What happens at the time of a list happens after it.
    else this.#waiting.push(moment);
  }

  /** The values of the candidates of a list. */
  rows(time: number, user: string, products: readonly string[]): OracleRow[] {
    this.#settle(time);
    return products.map((product) => this.#row(time, user, product));
  }

  #settle(before: number): void {
    const ready = this.#waiting.filter(({ time }) => time < before);
    this.#waiting = this.#waiting.filter(({ time }) => time >= before);
    for (const moment of ready) {
      if (moment.is === 'item') continue;
      const { time, user } = moment;
      if (moment.is === 'list')
        for (const [at, product] of moment.products.entries())
          this.#add({ kind: 'impression', time, user, product, position: at + 1, revenue: 0 });
      else {
        const { is: kind, product, position, revenue } = moment;
        this.#add({
          kind,
          time,
          user,
          product,
          position: this.#hasPositions ? position : undefined,
          revenue,
        });
      }
    }
  }

  #add(event: Omit<Past, 'brand'>): void {
    const past = { ...event, brand: this.#items.get(event.product)?.brand ?? '' };
    this.#all.push(past);
    for (const [map, key] of [
      [this.#byProduct, past.product],
      [this.#byBrand, past.brand],
      [this.#byUser, past.user],
    ] as const) {
      const known = map.get(key);
      if (known === undefined) map.set(key, [past]);
      else known.push(past);
    }
  }

  #row(now: number, user: string, product: string): OracleRow {
    const item = this.#items.get(product);
    const brand = item?.brand ?? '';
    const own = this.#byProduct.get(product) ?? [];
    const mine = this.#byUser.get(user) ?? [];
    const rates = this.#ratesAt(now);
    const [clicks, shown] = [inWindow(own, 'click', now, 7 * DAY), inWindow(own, 'impression', now, 7 * DAY)];
    const expected = shown.reduce((sum, { position }) => sum + (rates.byClass[classOf(position)] ?? 0), 0);
    const heat = own.filter(({ kind }) => kind === 'click');
    const last = Math.max(-Infinity, ...heat.map(({ time }) => time));
    const since = (events: readonly Past[], kind: Past['kind'], window: number): Past[] =>
      events.filter((event) => event.kind === kind && event.time > now - window);
    return {
      'product.brand': item?.brand,
      'product.price': item?.price,
      'product_live:clicks_7d': clicks.length,
      'product_live:heat': heat.reduce((sum, { time }) => sum + 2 ** ((time - now) / (2 * DAY)), 0),
      'product_live:revenue_30d': inWindow(own, 'order', now, 30 * DAY).reduce(
        (sum, { revenue }) => sum + revenue,
        0,
      ),
      'product_live:buyers': new Set(inWindow(own, 'order', now, 30 * DAY).map((one) => one.user)).size,
      'product_live:last_click': last > now - 40 * DAY ? last : undefined,
      'product_live:ctr': (clicks.length + PRIOR * rates.ctr) / (shown.length + PRIOR),
      'product_live:lift': expected > 0 ? clicks.length / expected : undefined,
      'brand_now:clicks_7d': inWindow(this.#byBrand.get(brand) ?? [], 'click', now, 7 * DAY).length,
      'pair:clicks_14d': inWindow(
        mine.filter((one) => one.brand === brand),
        'click',
        now,
        14 * DAY,
      ).length,
      'seen:recently': since(mine, 'impression', 2 * DAY).filter((one) => one.product === product).length,
      'liked:clicks_7d': since(mine, 'click', 7 * DAY).filter((one) => one.brand === brand).length,
      'liked:bought': since(mine, 'order', 30 * DAY).some((one) => one.brand === brand) ? 1 : 0,
    };
  }

  #ratesAt(now: number): Rates {
    if (this.#rates?.time === now) return this.#rates;
    const clicks = inWindow(this.#all, 'click', now, 7 * DAY);
    const shown = inWindow(this.#all, 'impression', now, 7 * DAY);
    const rate = (over: number, counted: number): number => (over > 0 ? counted / over : 0);
    const ofClass = (events: readonly Past[], place: number): number =>
      events.filter(({ position }) => classOf(position) === place).length;
    const byClass = Array.from({ length: CLASSES.length + 1 }, (_, place) =>
      rate(ofClass(shown, place), ofClass(clicks, place)),
    );
    return (this.#rates = { time: now, ctr: rate(shown.length, clicks.length), byClass });
  }
}

/** The events that the buckets of a window hold. */
function inWindow(events: readonly Past[], kind: Past['kind'], now: number, window: number): Past[] {
  const width = Math.ceil(window / BUCKETS);
  const oldest = Math.floor((now - window) / width);
  return events.filter((event) => event.kind === kind && Math.floor(event.time / width) >= oldest);
}

function classOf(position: number | undefined): number {
  return position === undefined ? 0 : CLASSES.filter((start) => position >= start).length;
}
