import { Random } from '../../../runtime/ground/core/random.js';

/** What happens in a generated shop. Times are whole seconds, in epoch milliseconds, so that many are equal. */
export type ShopMoment =
  | {
      readonly is: 'item';
      readonly time: number;
      readonly product: string;
      readonly brand: string;
      readonly price: number;
    }
  | {
      readonly is: 'list';
      readonly time: number;
      readonly id: string;
      readonly user: string;
      readonly products: readonly string[];
    }
  | {
      readonly is: 'click' | 'order';
      readonly time: number;
      readonly id: string;
      readonly list: string;
      readonly user: string;
      readonly product: string;
      readonly position: number;
      readonly revenue: number;
    };

export interface ShopLogOptions {
  readonly seed: number;
  /** When the log begins, epoch milliseconds. */
  readonly from: number;
  readonly days: number;
  readonly listsADay: number;
  readonly products: number;
  readonly users: number;
  /** Whether the brands and prices of some products change meanwhile. */
  readonly changes: boolean;
}

const BRANDS = 8;
const LENGTH = 12;
const DAY = 86_400_000;
/** The part of the events at a place that users look at: 1 / place^0.5. */
const POSITION_POWER = 0.5;

/**
 * A shop whose truth is known: each product has a hidden quality, each user likes two brands, and places are looked at less
 * the lower they are. Nothing in the attributes tells the quality, so only what users did before tells what they will click.
 * The order of the moments is random, as in the export of a warehouse.
 */
export function shopLog(options: ShopLogOptions): ShopMoment[] {
  const { seed, from, days, listsADay, products, users, changes } = options;
  const source = new Random(seed);
  const random = (): number => source.next();
  const pick = (below: number): number => Math.floor(random() * below);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const quality = Array.from({ length: products }, normal);
  const brandOf = Array.from({ length: products }, () => pick(BRANDS));
  const likes = Array.from({ length: users }, () => new Set([pick(BRANDS), pick(BRANDS)]));
  const moments: ShopMoment[] = [];
  const item = (time: number, at: number, brand: number): void => {
    const price = Math.round(500 + 4500 * random()) / 100;
    moments.push({ is: 'item', time, product: `p${at}`, brand: `b${brand}`, price });
  };
  for (let at = 0; at < products; at++) item(from, at, brandOf[at] ?? 0);
  const changed = new Map<number, { readonly time: number; readonly brand: number }>();
  if (changes)
    for (let at = 0; at < products; at += 5) {
      const time = from + 1000 * Math.floor((random() * days * DAY) / 1000);
      changed.set(at, { time, brand: pick(BRANDS) });
      item(time, at, changed.get(at)?.brand ?? 0);
    }
  const brandAt = (at: number, time: number): number => {
    const change = changed.get(at);
    return change !== undefined && time >= change.time ? change.brand : (brandOf[at] ?? 0);
  };
  for (let number = 0; number < days * listsADay; number++) {
    const time = from + 1000 + 1000 * Math.floor((random() * days * DAY) / 1000);
    const user = pick(users);
    const shown = new Set<number>();
    while (shown.size < LENGTH) shown.add(pick(products));
    const id = `r${number}`;
    moments.push({ is: 'list', time, id, user: `u${user}`, products: [...shown].map((at) => `p${at}`) });
    for (const [place, at] of [...shown].entries()) {
      const taste = likes[user]?.has(brandAt(at, time)) === true ? 1.2 : 0;
      const appeal = 1 / (1 + Math.exp(2 - 1.8 * (quality[at] ?? 0) - taste));
      if (random() >= appeal / (place + 1) ** POSITION_POWER) continue;
      const act = { list: id, user: `u${user}`, product: `p${at}`, position: place + 1 };
      const clicked = time + 1000 * (5 + pick(300));
      moments.push({ ...act, is: 'click', time: clicked, id: `${id}-c${place}`, revenue: 0 });
      if (random() < 0.2)
        moments.push({
          ...{ ...act, is: 'order', id: `${id}-o${place}`, time: clicked + 1000 * (60 + pick(3600)) },
          revenue: Math.round(1000 + 9000 * random()) / 100,
        });
    }
  }
  for (let at = moments.length - 1; at > 0; at--) {
    const other = pick(at + 1);
    [moments[at], moments[other]] = [moments[other] as ShopMoment, moments[at] as ShopMoment];
  }
  return moments;
}

/** The moments in the order in which a service would learn of them. At equal times a list sees only what items are. */
export function inTime(moments: readonly ShopMoment[]): ShopMoment[] {
  const rank = { item: 0, list: 1, click: 2, order: 2 };
  return [...moments].sort((a, b) => a.time - b.time || rank[a.is] - rank[b.is]);
}

/** As events of Metarank, one a line. */
export function metarankLines(moments: readonly ShopMoment[]): string {
  return linesOf(moments, (moment) => {
    const timestamp = String(moment.time);
    switch (moment.is) {
      case 'item': {
        const { product: item, brand, price } = moment;
        const fields = [
          { name: 'brand', value: brand },
          { name: 'price', value: price },
        ];
        return { event: 'item', id: `i-${item}-${timestamp}`, item, timestamp, fields };
      }
      case 'list': {
        const { id, user, products } = moment;
        const items = products.map((product) => ({ id: product }));
        return { event: 'ranking', id, timestamp, user, session: user, fields: [], items };
      }
      default: {
        const { id, list: ranking, user, product: item } = moment;
        const type = moment.is === 'order' ? 'purchase' : 'click';
        const fields = moment.is === 'order' ? [{ name: 'revenue', value: moment.revenue }] : [];
        return { event: 'interaction', id, timestamp, ranking, user, session: user, type, item, fields };
      }
    }
  });
}

/** As rows of the BigQuery export of Google Analytics 4. Items are not in it. */
export function ga4Lines(moments: readonly ShopMoment[]): string {
  const visits = moments.filter((moment) => moment.is !== 'item');
  return linesOf(visits, (moment) => {
    const isList = moment.is === 'list';
    const names = { list: 'view_item_list', click: 'select_item', order: 'purchase' };
    const items = isList
      ? moment.products.map((item_id, at) => ({ item_id, item_list_index: at + 1, item_list_id: 'search' }))
      : [
          {
            ...{ item_id: moment.product, item_list_index: moment.position, quantity: 1 },
            ...(moment.is === 'order' ? { item_revenue: moment.revenue } : {}),
          },
        ];
    return {
      event_name: names[moment.is],
      event_timestamp: moment.time * 1000,
      user_pseudo_id: moment.user,
      // Two events of one user in one second differ in it.
      batch_event_index: Number(moment.id.replaceAll(/\D/g, '')),
      event_params: [{ key: 'ga_session_id', value: { int_value: Number(moment.id.replaceAll(/\D/g, '')) } }],
      items,
    };
  });
}

/** The items as they are at the end, for `entities load`. */
export function itemLines(moments: readonly ShopMoment[]): string {
  const last = new Map<string, object>();
  for (const moment of inTime(moments))
    if (moment.is === 'item')
      last.set(moment.product, { product_id: moment.product, brand: moment.brand, price: moment.price });
  return [...last.values()].map((row) => `${JSON.stringify(row)}\n`).join('');
}

function linesOf<T>(values: readonly T[], lineOf: (value: T) => object): string {
  return values.map((value) => `${JSON.stringify(lineOf(value))}\n`).join('');
}
