/** What an entity, usually a user, did with candidates, as POST /api/v1/feedback reported it. */
import type { Input } from './input.js';

/**
 * The kinds of events of a project that declares none. Their numbers, and their codes in the store, are their positions in
 * this list, in every project.
 */
export const INTERACTION_TYPES = ['impression', 'click', 'cart', 'order'] as const;

/** In `InteractionEvents.types`: the event is of a kind that the project does not declare. */
export const UNDECLARED_EVENT = 255;

/** The longest window, in milliseconds. */
export const LONGEST_WINDOW = 366 * 86_400_000;

/** The events that a component counts; see `BuildContext.needInteractions`. */
export interface InteractionsWanted {
  /** A path of the request to the entity that has the events, e.g. `user`. */
  readonly of: Input;
  /**
   * What events are counted by: a path of the candidate to an id, a text, or a list of either, e.g. `product.brand`. Without
   * it, events count whatever entity they are about, and have no values.
   */
  readonly with?: Input;
  /**
   * Gives the events this value of their own instead of those of `with`: a value that a kind of event declares, or
   * `position`. An event has its value as a text, or none.
   */
  readonly value?: { readonly name: string; readonly isNumber: boolean };
  /**
   * The kinds of events to keep, which `BuildContext.eventKinds` lists, and for how many milliseconds: at most
   * LONGEST_WINDOW.
   */
  readonly events: readonly { readonly type: string; readonly window: number }[];
}

/** Identifies the events of a request. It is made when the pipeline is compiled. */
export interface InteractionsInput {
  /** The number of the history in the plan. */
  readonly history: number;
  /** The column with the id of the entity that has the history. */
  readonly ids: number;
  /** The path of `with` in feedback, from the type of the candidate; a colon and `value`; a colon alone without both. */
  readonly facet: string;
}

/** The events of one entity in columns, oldest first, with their values of one facet. */
export interface InteractionEvents {
  /**
   * `Status.present` if the events are known, even if there are none. `absent` if the request names no such entity.
   * `failed` if the stored data cannot be read.
   */
  readonly status: number;
  readonly count: number;
  /** The number of each event's kind in `BuildContext.eventKinds`, or UNDECLARED_EVENT. */
  readonly types: Uint8Array;
  /** Epoch milliseconds. */
  readonly times: Float64Array;
  /** The number of items of each event, 1 or more. */
  readonly quantities: Uint16Array;
  /**
   * Event e has the values `texts[values[i]]` for i from `offsets[e]` up to, not including, `offsets[e + 1]`, without
   * duplicates.
   */
  readonly offsets: Int32Array;
  readonly values: Int32Array;
  readonly texts: readonly string[];
}
