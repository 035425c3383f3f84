import { INTERACTION_TYPES } from '../api/interactions.js';
import {
  MOST_BYTES,
  MOST_EVENTS,
  MOST_VALUES,
  type FacetValues,
  type History,
} from '../store/codec/history.js';

/** An event that feedback tells of. */
export interface NewEvent {
  /** Position in INTERACTION_TYPES. */
  readonly type: number;
  readonly time: number;
  readonly quantity: number;
  readonly identity: readonly [number, number];
  /** By facet. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** An event of either side: the position in the history, or a new event. */
export type Source = number | NewEvent;

/** What a record takes for an event, about, for a value, and for a text beside its letters; bytes. */
const EVENT_BYTES = 20;
const VALUE_BYTES = 4;
const TEXT_BYTES = 2;

/**
 * Which events there is room for: of each kind the newest, until they are MOST_EVENTS or take MOST_BYTES, each text of a kind
 * counted once. An event has to go if those of its kind that are newer and stay fill the room without it; whatever comes
 * later, they are there or newer ones fill it, so that what is kept does not depend on the order in which events came.
 */
export class HistoryCapacity {
  readonly #history: History;
  readonly #facets: readonly FacetValues[];
  /** Of both sides, and the numbers of those that new events have. */
  readonly #texts: string[];
  readonly #numbers = new Map<string, number>();
  /** By text: a bit for each kind that has it. */
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

  /** Takes room for an event, if there is; events are asked for from the newest to the oldest. */
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

/** Of one facet's values of a new event, those that are kept. */
export function valuesOf({ values }: NewEvent, facet: string): readonly string[] {
  return [...new Set(values.get(facet))].slice(0, MOST_VALUES);
}
