import type { JsonObject, JsonValue } from '../../api/types.js';
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
}

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
}

/** Puts out a list that was shown as a ranking, and any other event as feedback on each product. */
export function putShopEvent(event: ShopEvent, output: EventOutput): void {
  const { id: eventId, time, owners, kind, products, idName, sent } = event;
  if (products.length === 0) {
    output.reject('no_candidates', 'the event has no products');
    return;
  }
  if (kind === undefined) {
    const candidates = candidatesOf(products, idName, output);
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
    output.event({
      is: 'feedback',
      id: idOf(candidate),
      event: kind,
      time,
      request: undefined,
      owners,
      candidate,
      position: wholeOf(product.position),
      quantity: quantity ?? 1,
      values: kind === 'order' && price !== undefined ? { revenue: price * (quantity ?? 1) } : {},
    });
  }
}

function candidatesOf(
  products: readonly ShopProduct[],
  idName: string,
  output: EventOutput,
): ForeignCandidate[] {
  const places = products.map(({ position }) => (isMissing(position) ? NaN : Number(position)));
  // Positions start at 0 or at 1, as the site chose.
  const first = Math.min(1, ...places.filter((place) => Number.isInteger(place)));
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
