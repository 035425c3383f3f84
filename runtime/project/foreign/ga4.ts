import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput, ForeignCandidate, Owners, RowReader } from './foreign-event.js';
import { isPayload, readPayload } from './ga4-payload.js';
import { lineIds } from './line-ids.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';
import { firstPlace, placeOf, skipsEmpty, type PositionsFrom } from './shop-log.js';
import { isHit, isSession, readHit, readSession } from './universal-analytics.js';

/** The events that act on items, and their kinds. */
const ACTS: Readonly<Record<string, string>> = {
  select_item: 'click',
  add_to_cart: 'cart',
  purchase: 'order',
};

/**
 * Reads events of Google Analytics: rows of the BigQuery export of version 4 as JSON, payloads of its Measurement
 * Protocol (see `readPayload`), and sessions and hits of Universal Analytics (see `readSession`, `readHit`).
 * `view_item_list` is a list that was shown; `select_item`, `add_to_cart` and `purchase` are clicks, carts and orders.
 * Other events are not used. There is no id of a request, so an import joins clicks with the last list of the same user
 * that held the item.
 * Source: "BigQuery Export schema" of Google Analytics' documentation.
 */
export function ga4Reader(positionsFrom: PositionsFrom = 1): RowReader {
  return {
    read(row, output, arrival) {
      if (isPayload(row)) readPayload(row, ACTS, positionsFrom, output, arrival);
      else if (isSession(row)) readSession(row, output, arrival);
      else if (isHit(row)) readHit(row, output, arrival);
      else readExported(row, positionsFrom, output, arrival);
    },
  };
}

/** Whether a row is one of such a log. */
export function isGa4(row: JsonObject): boolean {
  const isExported = typeof row.event_name === 'string' && Object.hasOwn(row, 'event_timestamp');
  return isExported || isPayload(row) || isSession(row) || isHit(row);
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
  const items = Array.isArray(row.items) ? (row.items as readonly JsonValue[]) : [];
  if (skipsEmpty(kind, row.items, output)) return;
  if (items.length === 0) output.reject('no_candidates', 'items is empty or not a list');
  else if (kind === undefined) readList(row, items, { time, owners, positionsFrom }, output);
  else {
    const idOf = lineIds(isMissing(row.event_timestamp) && arrival ? arrival.id : eventIdOf(row, kind));
    for (const item of items) readAct(item, { kind, time, owners, idOf, positionsFrom }, output);
  }
}

function readList(
  row: JsonObject,
  items: readonly JsonValue[],
  { time, owners, positionsFrom }: Pick<Act, 'time' | 'owners' | 'positionsFrom'>,
  output: EventOutput,
): void {
  const places = items.map((item) => Number(valueAt(item, 'item_list_index') ?? NaN));
  const first = firstPlace(places, positionsFrom);
  const candidates = items.flatMap((item, at): ForeignCandidate[] => {
    const id = readItem(item, output);
    if (id === undefined) return [];
    const place = places[at] ?? NaN;
    const position = Number.isInteger(place) && place >= 0 && place < 2 ** 31 ? place - first + 1 : at + 1;
    const price = valueAt(item, 'price');
    const carried = typeof price === 'number' ? { price } : {};
    return [{ id, position, carried, acts: [] }];
  });
  if (candidates.length === 0) return;
  const session = param(row, 'ga_session_id');
  const list = valueAt(items[0], 'item_list_id') ?? valueAt(items[0], 'item_list_name');
  const query = param(row, 'search_term');
  const request = [owners.user, session, list, row.event_timestamp]
    .filter((part) => !isMissing(part))
    .map(plainText)
    .join('.');
  output.event({
    is: 'ranking',
    request,
    time,
    owners,
    sent: {
      ...(isMissing(query) ? {} : { query }),
      ...(isMissing(list) ? {} : { item_list: list }),
      ...(typeof valueAt(row, 'device.category') === 'string'
        ? { device: valueAt(row, 'device.category') as string }
        : {}),
    },
    candidates,
  });
}

/** What the items of an event share. */
interface Act {
  readonly kind: string;
  readonly time: number;
  readonly owners: Owners;
  readonly idOf: (item: string) => string;
  readonly positionsFrom: PositionsFrom;
}

function readAct(
  item: JsonValue,
  { kind, time, owners, idOf, positionsFrom }: Act,
  output: EventOutput,
): void {
  const candidate = readItem(item, output);
  if (candidate === undefined) return;
  const quantity = Number(valueAt(item, 'quantity') ?? 1);
  const revenue = valueAt(item, 'item_revenue');
  output.event({
    is: 'feedback',
    id: idOf(candidate),
    event: kind,
    time,
    request: undefined,
    owners,
    candidate,
    position: placeOf(valueAt(item, 'item_list_index'), positionsFrom),
    quantity: quantity >= 1 && quantity < 2 ** 31 ? Math.floor(quantity) : 1,
    values: kind === 'order' && !isMissing(revenue) && revenue !== NOT_SET ? { revenue } : {},
  });
}

/** How the export writes that an item has no value. */
const NOT_SET = '(not set)';

function readItem(item: JsonValue, output: EventOutput): string | undefined {
  const id = valueAt(item, 'item_id');
  return readId(id === NOT_SET ? undefined : id, 'items.item_id', output);
}

/**
 * The export has no id of an event. Events that a page sends together have the same time; they differ in their places
 * in the batch.
 */
function eventIdOf(row: JsonObject, event: string): string {
  // The pseudonymous id stays the same when the user signs in.
  const user = isMissing(row.user_pseudo_id) ? row.user_id : row.user_pseudo_id;
  return [event, row.event_timestamp, user, row.event_bundle_sequence_id, row.batch_event_index]
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
