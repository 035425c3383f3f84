import type { JsonObject, JsonValue } from '../../api/types.js';
import type { EventOutput, Owners, RowReader } from './foreign-event.js';
import { metarankReader } from './metarank.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';
import { listAt, putShopEvent, type ShopProduct } from './shop-log.js';

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
const METARANK = /^unstruct_event_ai_metarank_(?:item|user|ranking|interaction)_\d+$/;

/**
 * Reads enriched events of Snowplow, as the analytics SDKs write them as JSON: events of the e-commerce plugin
 * (`list_view` is a list that was shown; `list_click`, `add_to_cart` and `transaction` are clicks, carts and orders), and
 * self-describing events with Metarank's schemas. Other events are not used. The user is `user_id`, or else
 * `domain_userid`.
 * Source: "Canonical event model" and "Ecommerce tracking" of Snowplow's documentation; Metarank's page on Snowplow.
 */
export function snowplowReader(candidateType: string): RowReader {
  const metarank = metarankReader(candidateType);
  return {
    read(row, output) {
      if (!isSnowplow(row)) {
        output.reject('unknown_event', `event_id is ${shown(row.event_id)}`);
        return;
      }
      const foreign = Object.keys(row).find((key) => METARANK.test(key));
      const inner = foreign === undefined ? undefined : row[foreign];
      if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
        metarank.read(inner as JsonObject, output);
        return;
      }
      const type = valueAt(row[ACTION], 'type');
      const action = typeof type === 'string' && Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined;
      if (action !== undefined) readAction(row, action.kind, output);
      else output.skip?.(plainText(isMissing(type) ? (row.event_name ?? row.event ?? 'other events') : type));
    },
  };
}

/** Whether a row is such an event. */
export function isSnowplow(row: JsonObject): boolean {
  return !isMissing(row.event_id) && Object.hasOwn(row, 'collector_tstamp');
}

function readAction(row: JsonObject, kind: string | undefined, output: EventOutput): void {
  const id = readId(row.event_id, 'event_id', output);
  const timeField = isMissing(row.derived_tstamp) ? 'collector_tstamp' : 'derived_tstamp';
  const time = readTime(utc(row[timeField]), timeField, output);
  const owners = ownersOf(row, output);
  if (id === undefined || time === undefined || owners === undefined) return;
  const products = listAt(row, PRODUCTS).map(productOf);
  const list = valueAt(row[ACTION], 'name');
  const sent = isMissing(list) ? {} : { item_list: list };
  putShopEvent({ id, time, owners, kind, products, idName: 'product.id', sent }, output);
}

function productOf(product: JsonValue): ShopProduct {
  return {
    id: valueAt(product, 'id'),
    position: valueAt(product, 'position'),
    price: valueAt(product, 'price'),
    quantity: valueAt(product, 'quantity'),
  };
}

/** Snowplow's times are UTC. Some of its loaders write them without a zone. */
function utc(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}[ T][\d:.]+$/.test(value)) return value;
  return `${value.replace(' ', 'T')}Z`;
}

function ownersOf(row: JsonObject, output: EventOutput): Owners | undefined {
  const key = isMissing(row.user_id) ? 'domain_userid' : 'user_id';
  if (isMissing(row[key])) return {};
  const id = readId(row[key], key, output);
  return id === undefined ? undefined : { user: id };
}

/** Columns of a line of enriched events that are read, by name. The last columns of a line are counted from 131. */
const COLUMNS = {
  collector_tstamp: 3,
  event_id: 6,
  user_id: 12,
  domain_userid: 15,
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
  for (const context of described(cells[CONTEXTS])) {
    const name = shreddedName('contexts', context);
    if (name !== undefined) row[name] = [...listAt(row, name), valueAt(context, 'data') ?? null];
  }
  for (const event of described(cells[EVENT])) {
    const name = shreddedName('unstruct_event', event);
    if (name !== undefined) row[name] = valueAt(event, 'data') ?? null;
  }
  return row;
}

/** The self-describing parts in a cell: `{ schema, data: [part, …] }`, or one part. */
function described(cell: string | undefined): readonly JsonValue[] {
  if (cell === undefined || cell === '') return [];
  try {
    const data = valueAt(JSON.parse(cell) as JsonValue, 'data');
    return Array.isArray(data) ? (data as readonly JsonValue[]) : data === undefined ? [] : [data];
  } catch {
    return [];
  }
}

/** `iglu:com.acme/big_click/jsonschema/1-0-2` becomes `contexts_com_acme_big_click_1`. */
function shreddedName(prefix: string, part: JsonValue): string | undefined {
  const schema = valueAt(part, 'schema');
  const [, vendor, name, major] =
    /^iglu:([^/]+)\/([^/]+)\/jsonschema\/(\d+)-/.exec(typeof schema === 'string' ? schema : '') ?? [];
  if (vendor === undefined || name === undefined || major === undefined) return undefined;
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return `${prefix}_${vendor.replaceAll('.', '_').toLowerCase()}_${snake.replaceAll('-', '_')}_${major}`;
}
