import { INTERACTION_TYPES } from '../api/interactions.js';
import {
  MOST_BYTES,
  MOST_EVENTS,
  MOST_VALUES,
  type FacetValues,
  type History,
} from '../store/codec/history.js';

/** An event from a feedback body. */
export interface NewEvent {
  /** Position in INTERACTION_TYPES. */
  readonly type: number;
  readonly time: number;
  readonly quantity: number;
  readonly identity: readonly [number, number];
  /** By facet name. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** An event to merge: its position in the history, or a new event. */
export type Source = number | NewEvent;

/** Approximate size in a record, in bytes: of an event, of a value, and of a text without its characters. */
const EVENT_BYTES = 20;
const VALUE_BYTES = 4;
const TEXT_BYTES = 2;

/**
 * Decides which events of a history are kept: the newest of each kind, up to MOST_EVENTS and MOST_BYTES. Each text is
 * counted once for each kind. An event is dropped if the newer events of its kind already fill the limit. They stay or
 * are replaced by newer ones, so the result does not depend on the order in which events arrive.
 */
export class HistoryCapacity {
  readonly #history: History;
  readonly #facets: readonly FacetValues[];
  /** The texts of the history and of the new events; `#numbers` has the positions of those that new events use. */
  readonly #texts: string[];
  readonly #numbers = new Map<string, number>();
  /** By text number: one bit for each kind that already counted the text. */
  readonly #seen: Uint8Array;
  readonly #events = INTERACTION_TYPES.map(() => MOST_EVENTS);
  readonly #bytes = INTERACTION_TYPES.map(() => MOST_BYTES);

  constructor(history: History, fresh: readonly NewEvent[]) {
    this.#history = history;
    this.#facets = [...history.facets.values()];
    this.#texts = [...history.texts];
    const added = new Set(fresh.flatMap(({ values }) => [...values.values()].flat()));
    for (const [number, text] of this.#texts.entries()) if (added.has(text)) this.#numbers.set(text, number);
    for (const text of added)
      if (!this.#numbers.has(text)) this.#numbers.set(text, this.#texts.push(text) - 1);
    this.#seen = new Uint8Array(this.#texts.length);
  }

  /** Reserves space for an event; false if there is none. Call it for events from the newest to the oldest. */
  take(source: Source): boolean {
    const type = typeof source === 'number' ? (this.#history.types[source] as number) : source.type;
    const events = this.#events[type] ?? 0;
    const bytes = this.#bytes[type] ?? 0;
    if (events <= 0 || bytes <= 0) return false;
    this.#events[type] = events - 1;
    this.#bytes[type] = bytes - EVENT_BYTES - this.#bytesOf(source, 1 << type);
    return true;
  }

  #bytesOf(source: Source, bit: number): number {
    let bytes = 0;
    if (typeof source === 'number') {
      for (const { offsets, values } of this.#facets) {
        const end = offsets[source + 1] ?? 0;
        for (let i = offsets[source] ?? 0; i < end; i++) bytes += this.#bytesOfText(values[i] ?? 0, bit);
      }
    } else {
      for (const name of source.values.keys())
        for (const text of valuesOf(source, name))
          bytes += this.#bytesOfText(this.#numbers.get(text) ?? 0, bit);
    }
    return bytes;
  }

  #bytesOfText(number: number, bit: number): number {
    const seen = this.#seen[number] ?? 0;
    if ((seen & bit) !== 0) return VALUE_BYTES;
    this.#seen[number] = seen | bit;
    return VALUE_BYTES + TEXT_BYTES + Buffer.byteLength(this.#texts[number] ?? '');
  }
}

/** The values of one facet that are kept for a new event. */
export function valuesOf({ values }: NewEvent, facet: string): readonly string[] {
  return [...new Set(values.get(facet))].slice(0, MOST_VALUES);
}
