import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EventOutput, ForeignCandidate, Owners } from './foreign-event.js';
import { lineIds } from './line-ids.js';
import { isMissing, readId, valueAt } from './read-values.js';

/** A product of an event of a web shop. */
export interface ShopProduct {
  readonly id: JsonValue | undefined;
  /** As the log has it, from 0 or from 1. */
  readonly position: JsonValue | undefined;
  readonly price: JsonValue | undefined;
  readonly quantity: JsonValue | undefined;
  /** What the log says that the line cost; null if it could say so and does not. By default price times quantity. */
  readonly revenue?: JsonValue;
}

/**
 * What positions start with. 0: all do. 1: those of acts do, and those of a list start at 0 if its first one is 0, because
 * many sites count so.
 */
export type PositionsFrom = 0 | 1;

/** What an event of a web shop says, however the log writes it. */
export interface ShopEvent {
  /** Identifies the event. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly owners: Owners;
  /** The kind of feedback; undefined for a list that was shown. */
  readonly kind: string | undefined;
  readonly products: readonly ShopProduct[];
  /** What messages call the id of a product. */
  readonly idName: string;
  /** Fields of the request of a list. */
  readonly sent: JsonObject;
  /** By default 1. */
  readonly positionsFrom?: PositionsFrom;
}

/** Whether a list that was shown holds nothing: a search that finds nothing is no error. Then it is skipped. */
export function skipsEmpty(
  kind: string | undefined,
  list: JsonValue | undefined,
  output: EventOutput,
): boolean {
  const isEmpty = kind === undefined && Array.isArray(list) && list.length === 0;
  if (isEmpty) output.skip?.('a list without products');
  return isEmpty;
}

/** Puts out a list that was shown as a ranking, and any other event as feedback on each product. */
export function putShopEvent(event: ShopEvent, output: EventOutput): void {
  const { id: eventId, time, owners, kind, products, idName, sent, positionsFrom = 1 } = event;
  if (products.length === 0) {
    output.reject('no_candidates', 'the event has no products');
    return;
  }
  if (kind === undefined) {
    const candidates = candidatesOf(products, idName, positionsFrom, output);
    if (candidates.length > 0)
      output.event({ is: 'ranking', request: eventId, time, owners, sent, candidates });
    return;
  }
  const idOf = lineIds(eventId);
  for (const product of products) {
    const candidate = readId(product.id, idName, output);
    if (candidate === undefined) continue;
    const quantity = wholeOf(product.quantity);
    const price = numberOf(product.price);
    const computed = price === undefined ? undefined : price * (quantity ?? 1);
    const revenue = product.revenue === undefined ? computed : numberOf(product.revenue);
    output.event({
      is: 'feedback',
      id: idOf(candidate),
      event: kind,
      time,
      request: undefined,
      owners,
      candidate,
      position: placeOf(product.position, positionsFrom),
      quantity: quantity ?? 1,
      values: kind === 'order' && revenue !== undefined ? { revenue } : {},
    });
  }
}

function candidatesOf(
  products: readonly ShopProduct[],
  idName: string,
  positionsFrom: PositionsFrom,
  output: EventOutput,
): ForeignCandidate[] {
  const places = products.map(({ position }) => (isMissing(position) ? NaN : Number(position)));
  const first = firstPlace(places, positionsFrom);
  return products.flatMap(({ id: given, price }, at): ForeignCandidate[] => {
    const id = readId(given, idName, output);
    if (id === undefined) return [];
    const place = places[at] ?? NaN;
    const isPlace = Number.isInteger(place) && place >= 0 && place < 2 ** 31;
    const amount = numberOf(price);
    return [
      {
        id,
        position: isPlace ? place - first + 1 : at + 1,
        carried: amount === undefined ? {} : { price: amount },
        acts: [],
      },
    ];
  });
}

function numberOf(value: JsonValue | undefined): number | undefined {
  if (isMissing(value) || typeof value === 'object' || typeof value === 'boolean') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** The number of the first position of a list, 0 or 1. */
function firstPlace(places: readonly number[], positionsFrom: PositionsFrom): number {
  return Math.min(positionsFrom, ...places.filter((place) => Number.isInteger(place)));
}

/** The position of an act, from 1; undefined if there is none. */
function placeOf(value: JsonValue | undefined, positionsFrom: PositionsFrom): number | undefined {
  const number = numberOf(value);
  return number === undefined ? undefined : wholeOf(number - positionsFrom + 1);
}

/** A whole number from 1; undefined for anything else. */
function wholeOf(value: JsonValue | undefined): number | undefined {
  const number = numberOf(value);
  return number !== undefined && number >= 1 && number < 2 ** 31 ? Math.floor(number) : undefined;
}

/** The list at a path; an empty list if there is none. */
export function listAt(row: JsonValue | undefined, path: string): readonly JsonValue[] {
  const value = valueAt(row, path);
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
