import type { JsonObject, JsonValue } from '../../api/types.js';
import type { Owners, RowReader } from './foreign-event.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, type ShopProduct } from './shop-log.js';

/** The events that are used, in lower case. The kind of a list that was shown is undefined. */
const EVENTS: Readonly<Record<string, { readonly kind: string | undefined }>> = {
  'product list viewed': { kind: undefined },
  'product clicked': { kind: 'click' },
  'product added': { kind: 'cart' },
  'order completed': { kind: 'order' },
};

/**
 * Reads `track` calls of Segment: `Product List Viewed` is a list that was shown; `Product Clicked`, `Product Added` and
 * `Order Completed` are clicks, carts and orders. Other calls and other events are not used. The user is `userId`, or
 * else `anonymousId`.
 * Source: the pages "Spec: Common fields" and "Spec: V2 ecommerce events" of Segment's documentation.
 */
export function segmentReader(): RowReader {
  return {
    read(row, output) {
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
      const id = readId(row.messageId, 'messageId', output);
      const timeField = ['timestamp', 'originalTimestamp', 'sentAt'].find((one) => !isMissing(row[one]));
      const time = readTime(row[timeField ?? 'timestamp'], timeField ?? 'timestamp', output);
      const owners = ownersOf(row, output);
      if (id === undefined || time === undefined || owners === undefined) return;
      const { properties } = row;
      const listed = listAt(properties, 'products');
      // One product has its fields among the properties themselves.
      const products = (listed.length > 0 || event.kind === undefined ? listed : [properties]).map(productOf);
      putShopEvent(
        { id, time, owners, kind: event.kind, products, idName: 'product_id', sent: sentOf(properties) },
        output,
      );
    },
  };
}

/** Whether a row is such a call. */
export function isSegment(row: JsonObject): boolean {
  return (
    ['track', 'identify', 'page', 'screen', 'group', 'alias'].includes(plainText(row.type)) &&
    Object.hasOwn(row, 'messageId') &&
    (Object.hasOwn(row, 'anonymousId') || Object.hasOwn(row, 'userId'))
  );
}

/** Older versions of the events have `id`. */
function productOf(product: JsonValue | undefined): ShopProduct {
  const id = valueAt(product, 'product_id');
  return {
    id: isMissing(id) ? valueAt(product, 'id') : id,
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

function ownersOf(row: JsonObject, output: Parameters<RowReader['read']>[1]): Owners | undefined {
  const key = isMissing(row.userId) ? 'anonymousId' : 'userId';
  if (isMissing(row[key])) return {};
  const id = readId(row[key], key, output);
  return id === undefined ? undefined : { user: id };
}
