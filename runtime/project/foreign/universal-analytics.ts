import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput } from './foreign-event.js';
import { isMissing, plainText, readTime, valueAt } from './read-values.js';
import { listAt, putShopEvent, type ShopEvent, type ShopProduct } from './shop-log.js';

/** The kind of an action, by its name in hits and by its number in the export. */
const ACTIONS: Readonly<Record<string, string>> = {
  ...{ click: 'click', add: 'cart', purchase: 'order' },
  ...{ '1': 'click', '3': 'cart', '6': 'order' },
};
/** The export has prices in millionths. */
const MICROS = 1e6;

/** Whether a row is a session of the BigQuery export. */
export function isSession(row: JsonObject): boolean {
  return Array.isArray(row.hits) && Object.hasOwn(row, 'visitId');
}

/** Whether a row has the parameters of a hit of the Measurement Protocol, version 1. */
export function isHit(row: JsonObject): boolean {
  return typeof row.t === 'string' && typeof row.tid === 'string';
}

/**
 * Reads a session of the BigQuery export of Universal Analytics with its hits. Lists that were shown are impressions;
 * clicks in lists, additions to the cart and purchases are feedback.
 * Source: "BigQuery Export schema" of Universal Analytics' documentation.
 */
export function readSession(row: JsonObject, output: EventOutput, arrival: Arrival | undefined): void {
  const start = readTime(row.visitStartTime, 'visitStartTime', output, arrival);
  const owners = firstOwner(row, ['userId', 'fullVisitorId', 'clientId'], output);
  if (start === undefined || owners === undefined) return;
  let used = 0;
  for (const [at, hit] of listAt(row, 'hits').entries()) {
    const number = plainText(valueAt(hit, 'hitNumber') ?? at + 1);
    const id = [row.fullVisitorId ?? row.clientId, row.visitId, number]
      .filter((part) => !isMissing(part))
      .map(plainText)
      .join('.');
    const time = start + Math.max(0, Number(valueAt(hit, 'time') ?? 0) || 0);
    const listed = listAt(hit, 'product');
    const shown = listed.filter((product) => valueAt(product, 'isImpression') === true);
    const acted = listed.filter((product) => valueAt(product, 'isImpression') !== true);
    const query = valueAt(hit, 'page.searchKeyword');
    const event = {
      id,
      time,
      owners,
      idName: 'hits.product.productSKU',
      sent: isMissing(query) ? {} : { query },
    };
    const kind = ACTIONS[plainText(valueAt(hit, 'eCommerceAction.action_type') ?? '')];
    used += putHit(event, shown.map(exported), acted.map(exported), kind, output);
  }
  if (used === 0) output.skip?.('a session without lists and actions');
}

function exported(product: JsonValue): ShopProduct {
  const price = Number(valueAt(product, 'productPrice') ?? NaN);
  return {
    id: valueAt(product, 'productSKU'),
    position: valueAt(product, 'productListPosition'),
    price: Number.isNaN(price) ? undefined : price / MICROS,
    quantity: valueAt(product, 'productQuantity'),
  };
}

/**
 * Reads the parameters of a hit as a JSON object: `{ v: '1', tid, cid, t: 'event', pa: 'purchase', pr1id, pr1pr, … }`.
 * A hit of the type `item` is one line of an order.
 * Source: "Measurement Protocol Parameter Reference" of Universal Analytics' documentation.
 */
export function readHit(row: JsonObject, output: EventOutput, arrival: Arrival | undefined): void {
  const owners = firstOwner(row, ['uid', 'cid'], output);
  // A hit has no time of its own: `qt` is how long it waited for being sent.
  const sent = readTime(undefined, 'the time of the hit', output, arrival);
  if (owners === undefined || sent === undefined || arrival === undefined) return;
  const time = sent - Math.max(0, Number(row.qt ?? 0) || 0);
  // All hits of an order name it; a hit that is sent again is then known.
  const id = isMissing(row.ti) ? arrival.id : `${plainText(row.ti)}.${plainText(row.tid)}`;
  const event = { id, time, owners, sent: {} };
  if (row.t === 'item') {
    const code = isMissing(row.ic) ? row.in : row.ic;
    const product = { id: code, position: undefined, price: row.ip, quantity: row.iq };
    putShopEvent({ ...event, kind: 'order', products: [product], idName: 'ic' }, output);
    return;
  }
  const shown = numbered(row, /^(il\d{1,3}pi\d{1,3})id$/);
  const acted = numbered(row, /^(pr\d{1,3})id$/);
  const kind = typeof row.pa === 'string' && Object.hasOwn(ACTIONS, row.pa) ? ACTIONS[row.pa] : undefined;
  const used = putHit({ ...event, idName: 'pr1id' }, shown, acted, kind, output);
  if (used === 0) output.skip?.(isMissing(row.pa) ? plainText(row.t) : plainText(row.pa));
}

/** The products whose parameters begin with numbered prefixes, by these numbers. */
function numbered(row: JsonObject, pattern: RegExp): ShopProduct[] {
  const prefixes = Object.keys(row).flatMap((name) => pattern.exec(name)?.[1] ?? []);
  const order = new Intl.Collator('en', { numeric: true });
  return prefixes.sort(order.compare).map((prefix) => ({
    id: row[`${prefix}id`],
    position: row[`${prefix}ps`],
    price: row[`${prefix}pr`],
    quantity: row[`${prefix}qt`],
  }));
}

/** @returns how many events the hit holds */
function putHit(
  event: Omit<ShopEvent, 'kind' | 'products'>,
  shown: readonly ShopProduct[],
  acted: readonly ShopProduct[],
  kind: string | undefined,
  output: EventOutput,
): number {
  if (shown.length > 0) putShopEvent({ ...event, kind: undefined, products: shown }, output);
  if (kind === undefined) return shown.length;
  putShopEvent({ ...event, kind, products: acted }, output);
  return shown.length + 1;
}
