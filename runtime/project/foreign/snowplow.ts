import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { nestsDeeper } from '../../ground/core/parse-json.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput, RowReader } from './foreign-event.js';
import { metarankReader } from './metarank.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, type PositionsFrom, type ShopEvent, type ShopProduct } from './shop-log.js';

/** Actions of the e-commerce events. The kind of a list that was shown is undefined. */
const ACTIONS: Readonly<Record<string, { readonly kind: string | undefined }>> = {
  list_view: { kind: undefined },
  list_click: { kind: 'click' },
  add_to_cart: { kind: 'cart' },
  transaction: { kind: 'order' },
};

const ECOMMERCE = 'com_snowplowanalytics_snowplow_ecommerce';
const ACTION = `unstruct_event_${ECOMMERCE}_snowplow_ecommerce_action_1`;
const PRODUCTS = `contexts_${ECOMMERCE}_product_1`;
/** The event of `trackAddToCart`, which is older than the e-commerce plugin. It holds the product itself. */
const ADDED = 'unstruct_event_com_snowplowanalytics_snowplow_add_to_cart_1';
/** The line of an order as `trackTransaction` and `addItem` send it. */
const ORDER_LINE = 'transaction_item';
const METARANK = /^unstruct_event_ai_metarank_(?:item|user|ranking|interaction)_\d+$/;

/**
 * Reads enriched events of Snowplow as JSON, either as the analytics SDKs write them, with a key for each schema, or
 * with `unstruct_event` and `contexts`, which can be objects or JSON as text. It takes events of the e-commerce plugin
 * (`list_view` is a list that was shown; `list_click`, `add_to_cart` and `transaction` are clicks, carts and orders), the
 * older `add_to_cart` and `transaction_item` (`ti_sku`), and self-describing events with Metarank's schemas. Other events
 * are not used. The user is `user_id`, or else `domain_userid`.
 * Source: "Canonical event model" and "Ecommerce tracking" of Snowplow's documentation; Metarank's page on Snowplow.
 */
export function snowplowReader(candidateType: string, positionsFrom: PositionsFrom = 1): RowReader {
  const metarank = metarankReader(candidateType);
  return {
    read(given, output, arrival) {
      if (!isSnowplow(given)) {
        output.reject('unknown_event', `event_id is ${shown(given.event_id)}`);
        return;
      }
      const row = shreddedRow(given);
      const foreign = Object.keys(row).find((key) => METARANK.test(key));
      const inner = foreign === undefined ? undefined : row[foreign];
      if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
        metarank.read(inner as JsonObject, output, arrival);
        return;
      }
      const type = valueAt(row[ACTION], 'type');
      const action = typeof type === 'string' && Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined;
      const name = isMissing(row.event_name) ? row.event : row.event_name;
      const added = row[ADDED];
      if (action !== undefined) {
        const sent = valueAt(row[ACTION], 'name');
        const products = listAt(row, PRODUCTS).map(productOf);
        const used = { ...action, products, idName: 'product.id', list: sent, positionsFrom };
        readAction(row, used, output, arrival);
      } else if (typeof added === 'object' && added !== null)
        readAction(row, { kind: 'cart', products: [addedOf(added)], idName: 'sku' }, output, arrival);
      else if (name === ORDER_LINE)
        readAction(row, { kind: 'order', products: [lineOf(row)], idName: 'ti_sku' }, output, arrival);
      else output.skip?.(plainText(isMissing(type) ? (name ?? 'other events') : type));
    },
  };
}

/** Whether a row is such an event. */
export function isSnowplow(row: JsonObject): boolean {
  return !isMissing(row.event_id) && Object.hasOwn(row, 'collector_tstamp');
}

interface Action extends Pick<ShopEvent, 'kind' | 'products' | 'idName' | 'positionsFrom'> {
  /** The name of the list that was shown. */
  readonly list?: JsonValue | undefined;
}

function readAction(
  row: JsonObject,
  { kind, products, idName, list, positionsFrom = 1 }: Action,
  output: EventOutput,
  arrival: Arrival | undefined,
): void {
  const id = readId(row.event_id, 'event_id', output);
  const timeField = isMissing(row.derived_tstamp) ? 'collector_tstamp' : 'derived_tstamp';
  const time = readTime(utc(row[timeField]), timeField, output, arrival);
  const owners = firstOwner(row, ['user_id', 'domain_userid'], output);
  if (id === undefined || time === undefined || owners === undefined) return;
  const sent = isMissing(list) ? {} : { item_list: list };
  putShopEvent({ id, time, owners, kind, products, idName, sent, positionsFrom }, output);
}

function productOf(product: JsonValue): ShopProduct {
  return {
    id: valueAt(product, 'id'),
    position: valueAt(product, 'position'),
    price: valueAt(product, 'price'),
    quantity: valueAt(product, 'quantity'),
  };
}

/** The SDKs write names with underscores, and trackers `unitPrice`. */
function addedOf(event: JsonValue): ShopProduct {
  const price = valueAt(event, 'unit_price');
  return {
    id: valueAt(event, 'sku'),
    position: undefined,
    price: isMissing(price) ? valueAt(event, 'unitPrice') : price,
    quantity: valueAt(event, 'quantity'),
  };
}

function lineOf(row: JsonObject): ShopProduct {
  return { id: row.ti_sku, position: undefined, price: row.ti_price, quantity: row.ti_quantity };
}

/** Snowplow's times are UTC. Some of its loaders write them without a zone. */
function utc(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}[ T][\d:.]+$/.test(value)) return value;
  return `${value.replace(' ', 'T')}Z`;
}

/** Columns of a line of enriched events that are read, by name. The last columns of a line are counted from 131. */
const COLUMNS = {
  collector_tstamp: 3,
  event: 5,
  event_id: 6,
  user_id: 12,
  domain_userid: 15,
  ti_sku: 68,
  ti_price: 71,
  ti_quantity: 72,
  derived_tstamp: 124,
} as const;
const CONTEXTS = 52;
const EVENT = 58;
/** The columns of a line. */
const WIDTH = 131;

/**
 * Reads a line of Snowplow's enriched stream, which is tab-separated, into the JSON that the analytics SDKs make of it.
 * @returns undefined if it is no such line
 */
export function enrichedRow(line: string): JsonObject | undefined {
  const cells = line.replace(/\r?\n$/, '').split('\t');
  if (cells.length < WIDTH) return undefined;
  const row: Record<string, JsonValue> = {};
  for (const [name, at] of Object.entries(COLUMNS)) if (cells[at] !== '') row[name] = cells[at] ?? '';
  return shreddedRow({ ...row, contexts: cells[CONTEXTS] ?? '', unstruct_event: cells[EVENT] ?? '' });
}

/** Gives each self-describing part of a row a key of its own, as the analytics SDKs do. */
function shreddedRow({ contexts, unstruct_event: event, ...others }: JsonObject): JsonObject {
  const row: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(others))
    row[name] = /^(?:contexts|unstruct_event)_/.test(name) ? (parsed(value) ?? null) : value;
  for (const context of described(contexts)) {
    const name = shreddedName('contexts', context);
    if (name !== undefined) row[name] = [...listAt(row, name), valueAt(context, 'data') ?? null];
  }
  for (const one of described(event)) {
    const name = shreddedName('unstruct_event', one);
    if (name !== undefined) row[name] = valueAt(one, 'data') ?? null;
  }
  return row;
}

/** The self-describing parts in a cell: `{ schema, data: [part, …] }`, one part, or the list of parts itself. */
function described(cell: JsonValue | undefined): readonly JsonValue[] {
  const value = parsed(cell);
  const data = Array.isArray(value) ? value : valueAt(value, 'data');
  return Array.isArray(data) ? (data as readonly JsonValue[]) : data === undefined ? [] : [data];
}

/** JSON that may be a text. */
function parsed(cell: JsonValue | undefined): JsonValue | undefined {
  if (typeof cell !== 'string') return cell;
  try {
    const value = JSON.parse(cell) as JsonValue;
    return nestsDeeper(cell) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** `iglu:com.acme/big_click/jsonschema/1-0-2` becomes `contexts_com_acme_big_click_1`. */
function shreddedName(prefix: string, part: JsonValue): string | undefined {
  const schema = valueAt(part, 'schema');
  const [, vendor, name, major] =
    /^iglu:([^/]+)\/([^/]+)\/jsonschema\/(\d+)-/.exec(typeof schema === 'string' ? schema : '') ?? [];
  if (vendor === undefined || name === undefined || major === undefined) return undefined;
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return `${prefix}_${vendor.replaceAll(/[.-]/g, '_').toLowerCase()}_${snake.replaceAll('-', '_')}_${major}`;
}
