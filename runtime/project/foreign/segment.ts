import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput, RowReader } from './foreign-event.js';
import { readEach } from './read-each.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, skipsEmpty, type PositionsFrom, type ShopProduct } from './shop-log.js';

/** The events that are used, in lower case. The kind of a list that was shown is undefined. */
const EVENTS: Readonly<Record<string, { readonly kind: string | undefined }>> = {
  'product list viewed': { kind: undefined },
  'product clicked': { kind: 'click' },
  'clicked product': { kind: 'click' },
  'product added': { kind: 'cart' },
  'added product': { kind: 'cart' },
  'order completed': { kind: 'order' },
  'completed order': { kind: 'order' },
};

/**
 * Reads `track` calls of Segment: `Product List Viewed` is a list that was shown; `Product Clicked`, `Product Added` and
 * `Order Completed` are clicks, carts and orders. Version 1 calls them `Clicked Product`, `Added Product` and `Completed
 * Order`. Other calls and other events are not used. `{ batch: [call, …] }` holds several calls. The user is `userId`, or
 * else `anonymousId`.
 * Source: the pages "Spec: Common fields", "Spec: V2 ecommerce events" (and V1) and "HTTP API source" of Segment's
 * documentation.
 */
export function segmentReader(positionsFrom: PositionsFrom = 1): RowReader {
  return {
    read(row, output, arrival) {
      if (!Array.isArray(row.batch)) {
        readCall(row, positionsFrom, output, arrival);
        return;
      }
      const shared = isMissing(row.sentAt) ? {} : { sentAt: row.sentAt };
      readEach(row.batch as readonly JsonValue[], 'batch', output, arrival, (call, into, its) =>
        readCall({ ...shared, ...call }, positionsFrom, into, its),
      );
    },
  };
}

function readCall(
  row: JsonObject,
  positionsFrom: PositionsFrom,
  output: EventOutput,
  arrival: Arrival | undefined,
): void {
  if (typeof row.type !== 'string' || row.type === '') {
    output.reject('unknown_event', `type is ${shown(row.type)}`);
    return;
  }
  if (row.type !== 'track') {
    output.skip?.(row.type);
    return;
  }
  if (typeof row.event !== 'string' || row.event === '') {
    output.reject('unknown_event', `event is ${shown(row.event)}`);
    return;
  }
  const name = row.event.trim().toLowerCase();
  const event = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  if (event === undefined) {
    output.skip?.(row.event);
    return;
  }
  const id = readId(isMissing(row.messageId) ? arrival?.id : row.messageId, 'messageId', output);
  const timeField = ['timestamp', 'originalTimestamp', 'sentAt'].find((one) => !isMissing(row[one]));
  const time = readTime(row[timeField ?? 'timestamp'], timeField ?? 'timestamp', output, arrival);
  const owners = firstOwner(row, ['userId', 'anonymousId'], output);
  if (id === undefined || time === undefined || owners === undefined) return;
  const { properties } = row;
  if (skipsEmpty(event.kind, valueAt(properties, 'products'), output)) return;
  const listed = listAt(properties, 'products');
  // One product has its fields among the properties themselves.
  const products = (listed.length > 0 || event.kind === undefined ? listed : [properties]).map(productOf);
  putShopEvent(
    {
      ...{ id, time, owners, kind: event.kind, products, idName: 'product_id' },
      ...{ sent: sentOf(properties), positionsFrom },
    },
    output,
  );
}

/** Whether a row is such a call, or several. */
export function isSegment(row: JsonObject): boolean {
  const first = listAt(row, 'batch')[0];
  if (first !== undefined) return typeof valueAt(first, 'type') === 'string';
  return (
    ['track', 'identify', 'page', 'screen', 'group', 'alias'].includes(plainText(row.type)) &&
    Object.hasOwn(row, 'messageId') &&
    (Object.hasOwn(row, 'anonymousId') || Object.hasOwn(row, 'userId'))
  );
}

/** Version 1 of the events has `id`, and some of its libraries `productId`. */
function productOf(product: JsonValue | undefined): ShopProduct {
  const ids = ['product_id', 'productId', 'id'].map((key) => valueAt(product, key));
  return {
    id: ids.find((id) => !isMissing(id)),
    position: valueAt(product, 'position'),
    price: valueAt(product, 'price'),
    quantity: valueAt(product, 'quantity'),
  };
}

function sentOf(properties: JsonValue | undefined): JsonObject {
  const query = valueAt(properties, 'query');
  const list = valueAt(properties, 'list_id');
  return {
    ...(isMissing(query) ? {} : { query }),
    ...(isMissing(list) ? {} : { item_list: list }),
  };
}
