import type { ColumnKind, ColumnOf } from './columns.js';
import type { CuratedRule, CurationInput } from './curation.js';
import type { EntityIdentifier, Identifier } from './identifiers.js';
import type { Input } from './input.js';
import type { InteractionEvents, InteractionsInput } from './interactions.js';
import type { StatusName } from './status.js';
import type { TraceContext } from './trace-context.js';
import type { JsonObject } from './types.js';

/** What every component can read of a request. Rows are candidates in input order. */
export interface StepInput {
  /** The number of candidates of the request, including filtered ones. Every column has this many rows. */
  readonly count: number;
  /** The rows that this step works on, ascending: those that are not filtered and are within `top:`. */
  readonly rows: Int32Array;
  /** Epoch milliseconds, the same for the whole request. */
  readonly now: number;
  /** The id of the request. All pages of a list of results have the same one, if the client sends it. */
  readonly requestId: string;
  /**
   * Draws uniform numbers in [0, 1). They depend on a secret of the service, the id of the request and the name of the step, so
   * a request that comes again has the same draws, on every instance.
   */
  random(): number;
  /** Aborts at the deadline of the request. */
  readonly signal: AbortSignal;
  /** The position of the step in the trace of the request; undefined if the request is not traced. */
  readonly trace?: TraceContext | undefined;
  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K>;
  /** The events of the entity that `needInteractions` named. They include all acknowledged feedback. */
  interactions(input: InteractionsInput): InteractionEvents;
  /** The rules of the list of `needCuration` that apply to the request now, in the order of the list. */
  curated(input: CurationInput): readonly CuratedRule[];
  /** The candidate of a row. */
  candidate(row: number): EntityIdentifier;
  /**
   * The value of a feature for an identifier of this request, by its full name. It costs O(1).
   * @throws Error if the component does not need that name.
   */
  getFeature(identifier: Identifier, name: string): FeatureValue;
  /**
   * Adds an event to the request. An effect must call it before it waits for anything.
   * @throws RangeError if there is no such row, or if the request has a thousand events already
   */
  emit(event: ComponentEvent): void;
}

/** The value of a feature for one identifier. `value` is undefined if the value is not known. */
export interface FeatureValue {
  readonly value: number | string | readonly string[] | readonly number[] | undefined;
  readonly status: StatusName;
  /** Why a defaulted value has no value of its own. */
  readonly cause?: StatusName;
}

/** Something that a component did or found out, for the ledger and `include_events`: a CUSTOM event. */
export interface ComponentEvent {
  /** The candidate that it is about. Undefined: it is about the request. */
  readonly row?: number;
  /** Further members of the event. They must not contain personal data. */
  readonly data: JsonObject;
}
