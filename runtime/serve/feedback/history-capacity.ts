import {
  MOST_BYTES,
  MOST_EVENTS,
  MOST_VALUES,
  type FacetValues,
  type History,
} from '../../state/store/codec/history.js';

/** An event from a feedback body. */
export interface NewEvent {
  /** The code of its kind. */
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

/** Up to this many kinds have MOST_BYTES each. More kinds share what these kinds have together. */
const FULL_KINDS = 4;

/** The space that is left for the events of one kind. */
interface Left {
  events: number;
  bytes: number;
  /** By text number: 1 if the text is counted. */
  readonly counted: Uint8Array;
}

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
  readonly #left = new Map<number, Left>();
  readonly #mostBytes: number;

  /** @param kinds the number of kinds of events that the history is meant to hold */
  constructor(history: History, fresh: readonly NewEvent[], kinds: number) {
    this.#history = history;
    this.#mostBytes = Math.floor((MOST_BYTES * FULL_KINDS) / Math.max(FULL_KINDS, kinds));
    this.#facets = [...history.facets.values()];
    this.#texts = [...history.texts];
    const added = new Set(fresh.flatMap(({ values }) => [...values.values()].flat()));
    for (const [number, text] of this.#texts.entries()) if (added.has(text)) this.#numbers.set(text, number);
    for (const text of added)
      if (!this.#numbers.has(text)) this.#numbers.set(text, this.#texts.push(text) - 1);
  }

  /** Reserves space for an event; false if there is none. Call it for events from the newest to the oldest. */
  take(source: Source): boolean {
    const type = typeof source === 'number' ? (this.#history.types[source] as number) : source.type;
    let left = this.#left.get(type);
    if (left === undefined) {
      left = { events: MOST_EVENTS, bytes: this.#mostBytes, counted: new Uint8Array(this.#texts.length) };
      this.#left.set(type, left);
    }
    if (left.events <= 0 || left.bytes <= 0) return false;
    left.events--;
    left.bytes -= EVENT_BYTES + this.#bytesOf(source, left.counted);
    return true;
  }

  #bytesOf(source: Source, counted: Uint8Array): number {
    let bytes = 0;
    if (typeof source === 'number') {
      for (const { offsets, values } of this.#facets) {
        const end = offsets[source + 1] ?? 0;
        for (let i = offsets[source] ?? 0; i < end; i++) bytes += this.#bytesOfText(values[i] ?? 0, counted);
      }
    } else {
      for (const name of source.values.keys())
        for (const text of valuesOf(source, name))
          bytes += this.#bytesOfText(this.#numbers.get(text) ?? 0, counted);
    }
    return bytes;
  }

  #bytesOfText(number: number, counted: Uint8Array): number {
    if (counted[number] === 1) return VALUE_BYTES;
    counted[number] = 1;
    return VALUE_BYTES + TEXT_BYTES + Buffer.byteLength(this.#texts[number] ?? '');
  }
}

/** The values of one facet that are kept for a new event. */
export function valuesOf({ values }: NewEvent, facet: string): readonly string[] {
  return [...new Set(values.get(facet))].slice(0, MOST_VALUES);
}
