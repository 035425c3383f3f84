/** What an entity, a user above all, did with candidates, as POST /api/v1/feedback told it. */
import type { Input } from './input.js';

/** The kinds of events. A stored event has its kind's position here, so that new ones go to the end. */
export const INTERACTION_TYPES = ['impression', 'click', 'cart', 'order'] as const;
export type InteractionType = (typeof INTERACTION_TYPES)[number];

/** Milliseconds that a window may have. */
export const LONGEST_WINDOW = 366 * 86_400_000;

/** What a component wants to count; see `BuildContext.needInteractions`. */
export interface InteractionsWanted {
  /** A path of the request to the entity whose events these are, e.g. `user`. */
  readonly of: Input;
  /** A path of the candidate to an id, a text, or a list of either, by which events are counted: `product.brand`. */
  readonly with: Input;
  /** The events that are kept for it, and for how many milliseconds: at most LONGEST_WINDOW. */
  readonly events: readonly { readonly type: InteractionType; readonly window: number }[];
}

/** Finds the events of a request; made when the pipeline is compiled. */
export interface InteractionsInput {
  /** Which of the plan's histories. */
  readonly history: number;
  /** Column of the id of the entity whose history it is. */
  readonly ids: number;
  /** What `with` was in feedback: the path from the type of the candidate. */
  readonly facet: string;
}

/** The events of one entity in columns, oldest first, with their values of one facet. */
export interface InteractionEvents {
  /**
   * `Status.present` where the events are known, also where there are none; else why they are not: `absent` where the
   * request names no such entity, `failed` where what the store holds cannot be read.
   */
  readonly status: number;
  readonly count: number;
  /** Positions in INTERACTION_TYPES. */
  readonly types: Uint8Array;
  /** Epoch milliseconds. */
  readonly times: Float64Array;
  /** How many items an event was of, 1 or more. */
  readonly quantities: Uint16Array;
  /** Event e has the values `texts[values[i]]`, i from `offsets[e]` to below `offsets[e + 1]`; none is there twice. */
  readonly offsets: Int32Array;
  readonly values: Int32Array;
  readonly texts: readonly string[];
}
