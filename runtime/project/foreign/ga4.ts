import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput, RowReader } from './foreign-event.js';
import { isPayload, readPayload } from './ga4-payload.js';
import { isMissing, plainText, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, skipsEmpty, type PositionsFrom, type ShopProduct } from './shop-log.js';

/** The events that act on items, and their kinds. */
const ACTS: Readonly<Record<string, string>> = {
  select_item: 'click',
  add_to_cart: 'cart',
  purchase: 'order',
};

/**
 * Reads events of Google Analytics: rows of the BigQuery export of version 4 as JSON, and payloads of its Measurement
 * Protocol (see `readPayload`).
 * `view_item_list` is a list that was shown; `select_item`, `add_to_cart` and `purchase` are clicks, carts and orders.
 * Other events are not used. There is no id of a request, so an import joins clicks with the last list of the same user
 * that held the item.
 * Source: "BigQuery Export schema" of Google Analytics' documentation.
 */
export function ga4Reader(positionsFrom: PositionsFrom = 1): RowReader {
  return {
    read(row, output, arrival) {
      if (isPayload(row)) readPayload(row, ACTS, positionsFrom, output, arrival);
      else readExported(row, positionsFrom, output, arrival);
    },
  };
}

/** Whether a row is one of such a log. */
export function isGa4(row: JsonObject): boolean {
  const isExported = typeof row.event_name === 'string' && Object.hasOwn(row, 'event_timestamp');
  return isExported || isPayload(row);
}

function readExported(
  row: JsonObject,
  positionsFrom: PositionsFrom,
  output: EventOutput,
  arrival: Arrival | undefined,
): void {
  const { event_name: name } = row;
  if (typeof name !== 'string' || name === '') {
    output.reject('unknown_event', `event_name is ${shown(name)}`);
    return;
  }
  const kind = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
  if (name !== 'view_item_list' && kind === undefined) {
    output.skip?.(name);
    return;
  }
  // It is microseconds, as a number or as text.
  const time = readTime(row.event_timestamp, 'event_timestamp', output, arrival);
  const owners = firstOwner(row, ['user_id', 'user_pseudo_id'], output);
  if (time === undefined || owners === undefined) return;
  const items = listAt(row, 'items');
  if (skipsEmpty(kind, row.items, output)) return;
  if (items.length === 0) {
    output.reject('no_candidates', 'items is empty or not a list');
    return;
  }
  const list = valueAt(items[0], 'item_list_id') ?? valueAt(items[0], 'item_list_name');
  const query = param(row, 'search_term');
  const device = valueAt(row, 'device.category');
  const session = param(row, 'ga_session_id');
  const id =
    kind === undefined
      ? joined(owners.user, session, list, row.event_timestamp)
      : isMissing(row.event_timestamp) && arrival
        ? arrival.id
        : eventIdOf(row, kind);
  putShopEvent(
    {
      ...{ id, time, owners, kind, products: items.map(productOf), idName: 'items.item_id', positionsFrom },
      sent: {
        ...(isMissing(query) ? {} : { query }),
        ...(isMissing(list) ? {} : { item_list: list }),
        ...(typeof device === 'string' ? { device } : {}),
      },
    },
    output,
  );
}

/** How the export writes that an item has no value. */
const NOT_SET = '(not set)';

function productOf(item: JsonValue): ShopProduct {
  const known = (key: string): JsonValue | undefined => {
    const value = valueAt(item, key);
    return value === NOT_SET ? undefined : value;
  };
  return {
    id: known('item_id'),
    position: known('item_list_index'),
    price: known('price'),
    quantity: known('quantity'),
    revenue: known('item_revenue') ?? null,
  };
}

/**
 * The export has no id of an event. Events that a page sends together have the same time; they differ in their places
 * in the batch.
 */
function eventIdOf(row: JsonObject, event: string): string {
  // The pseudonymous id stays the same when the user signs in.
  const user = isMissing(row.user_pseudo_id) ? row.user_id : row.user_pseudo_id;
  return joined(event, row.event_timestamp, user, row.event_bundle_sequence_id, row.batch_event_index);
}

function joined(...parts: readonly (JsonValue | undefined)[]): string {
  return parts
    .filter((part) => !isMissing(part))
    .map(plainText)
    .join('.');
}

/** The value of an event parameter: `event_params: [{ key, value: { string_value | int_value | … } }, …]` */
function param(row: JsonObject, key: string): JsonValue | undefined {
  if (!Array.isArray(row.event_params)) return undefined;
  const found = (row.event_params as readonly JsonValue[]).find((one) => valueAt(one, 'key') === key);
  const value = valueAt(found, 'value');
  for (const kind of ['string_value', 'int_value', 'double_value', 'float_value']) {
    const one = valueAt(value, kind);
    if (!isMissing(one)) return one;
  }
  return undefined;
}
