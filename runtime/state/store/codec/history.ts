/** The feedback events of one entity, oldest first, in columns. */
export interface History {
  readonly count: number;
  /** The codes of the kinds of the events (event-codes.ts). */
  readonly types: Uint8Array;
  /** Epoch milliseconds. */
  readonly times: Float64Array;
  readonly quantities: Uint16Array;
  /** Two numbers for each event, which identify it (`identityOf`). */
  readonly identities: Uint32Array;
  readonly facets: ReadonlyMap<string, FacetValues>;
  readonly texts: readonly string[];
}

/** The values of one facet: event e has `texts[values[i]]` for each i from `offsets[e]` to `offsets[e + 1] - 1`. */
export interface FacetValues {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

export const NO_HISTORY: History = {
  count: 0,
  types: new Uint8Array(0),
  times: new Float64Array(0),
  quantities: new Uint16Array(0),
  identities: new Uint32Array(0),
  facets: new Map(),
  texts: [],
};

/** Maximum number of events of one kind in a history; the newest are kept. */
export const MOST_EVENTS = 1000;

/**
 * Maximum bytes of one kind of events; older events are dropped. Events with ids as values use about a tenth of it. Kinds
 * beyond four share the bytes of four.
 */
export const MOST_BYTES = 256 * 1024;

/** Maximum number of values of one facet of an event; the first are kept. */
export const MOST_VALUES = 16;

/** Maximum number of facets of a history; facets that steps currently count have priority. */
export const MOST_FACETS = 255;
