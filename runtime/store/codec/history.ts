/** The events of one entity, oldest first, in columns. */
export interface History {
  readonly count: number;
  /** Positions in INTERACTION_TYPES. */
  readonly types: Uint8Array;
  /** Epoch milliseconds. */
  readonly times: Float64Array;
  readonly quantities: Uint16Array;
  /** Two numbers for each event: what tells it from all others (`identityOf`). */
  readonly identities: Uint32Array;
  readonly facets: ReadonlyMap<string, FacetValues>;
  readonly texts: readonly string[];
}

/** The values of one facet: event e has `texts[values[i]]`, i from `offsets[e]` to below `offsets[e + 1]`. */
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

/** Most events of one kind that are kept of an entity: the newest. */
export const MOST_EVENTS = 1000;

/** Once the newest events of a kind take so many bytes, no older one is kept; where values are ids they take a tenth. */
export const MOST_BYTES = 256 * 1024;

/** Most values of one facet that are kept of an event: the first. */
export const MOST_VALUES = 16;

/** Most facets of a history; those that are counted now come first. */
export const MOST_FACETS = 255;
