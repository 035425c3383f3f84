import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput } from './foreign-event.js';
import { readEach } from './read-each.js';
import { isMissing, plainText, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, skipsEmpty, type PositionsFrom, type ShopProduct } from './shop-log.js';

/** The ids of a device: of a browser, and of an app. */
const DEVICE_IDS = ['client_id', 'app_instance_id'] as const;

/** Whether a row is a payload of the Measurement Protocol of Google Analytics 4. */
export function isPayload(row: JsonObject): boolean {
  const hasUser = [...DEVICE_IDS, 'user_id'].some((key) => Object.hasOwn(row, key));
  return Array.isArray(row.events) && hasUser;
}

/**
 * Reads `{ client_id, user_id?, timestamp_micros?, events: [{ name, timestamp_micros?, params: { items: [{ item_id, … }] }
 * }] }`. The time of an event comes before that of the payload. The user is `user_id`, or else `client_id`.
 * Source: "Measurement Protocol reference" of Google Analytics 4.
 * @param acts the kinds of the events that act on items, by name
 */
export function readPayload(
  row: JsonObject,
  acts: Readonly<Record<string, string>>,
  positionsFrom: PositionsFrom,
  output: EventOutput,
  arrival: Arrival | undefined,
): void {
  readEach(row.events as readonly JsonValue[], 'events', output, arrival, (event, into, its) => {
    const { name } = event;
    if (typeof name !== 'string' || name === '') {
      into.reject('unknown_event', `name is ${shown(name)}`);
      return;
    }
    const kind = Object.hasOwn(acts, name) ? acts[name] : undefined;
    if (name !== 'view_item_list' && kind === undefined) {
      into.skip?.(name);
      return;
    }
    const micros = isMissing(event.timestamp_micros) ? row.timestamp_micros : event.timestamp_micros;
    const time = readTime(micros, 'timestamp_micros', into, its);
    const owners = firstOwner(row, ['user_id', ...DEVICE_IDS], into);
    if (time === undefined || owners === undefined) return;
    const listed = listAt(event, 'params.items');
    const query = valueAt(event, 'params.search_term');
    const products = listed.length > 0 ? listed : listAt(event, 'items');
    if (skipsEmpty(kind, valueAt(event, 'params.items') ?? event.items, into)) return;
    const list = ['item_list_id', 'item_list_name']
      .flatMap((key) => [valueAt(event, `params.${key}`), valueAt(products[0], key)])
      .find((one) => !isMissing(one));
    putShopEvent(
      {
        id: isMissing(micros) && its !== undefined ? its.id : idOf(row, event, micros),
        ...{ time, owners, kind, products: products.map(productOf), idName: 'items.item_id', positionsFrom },
        sent: {
          ...(isMissing(query) ? {} : { query }),
          ...(isMissing(list) ? {} : { item_list: list }),
        },
      },
      into,
    );
  });
}

/** A payload has no id. One that is sent again has the same device, times and order of events. */
function idOf(row: JsonObject, event: JsonObject, micros: JsonValue | undefined): string {
  const device = DEVICE_IDS.map((key) => row[key]).find((id) => !isMissing(id));
  const at = (row.events as readonly JsonValue[]).indexOf(event);
  return [event.name, micros, isMissing(device) ? row.user_id : device, at]
    .filter((part) => !isMissing(part))
    .map(plainText)
    .join('.');
}

function productOf(item: JsonValue): ShopProduct {
  return {
    id: valueAt(item, 'item_id'),
    position: valueAt(item, 'index'),
    price: valueAt(item, 'price'),
    quantity: valueAt(item, 'quantity'),
  };
}
