import type { JsonObject } from '../../ground/api/types.js';

/** Ids by entity type: `{ user: 'u1' }`. */
export type Owners = Readonly<Record<string, string>>;

/** What a user did with a candidate, as the log of another system tells it. */
export interface ForeignAct {
  /** The kind of feedback: `click`, `order`. */
  readonly event: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly quantity: number;
}

export interface ForeignCandidate {
  readonly id: string;
  /** 1-based; undefined if the log does not tell it. */
  readonly position: number | undefined;
  /** The score that the other system ranked by. */
  readonly score?: number;
  /** The probability with which it was drawn for its place. */
  readonly propensity?: number;
  /** Attributes that the candidate carries in the request. */
  readonly carried: JsonObject;
  readonly acts: readonly ForeignAct[];
}

interface Shown {
  /** Identifies the request among all files of an import. */
  readonly request: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly owners: Owners;
  /** Fields of the request, by name; `query.category` is an attribute of an entity of the request. */
  readonly sent: JsonObject;
}

/** A list that another system showed. */
export interface ForeignRanking extends Shown {
  readonly is: 'ranking';
  readonly candidates: readonly ForeignCandidate[];
  /** True if its candidates were not shown together. */
  readonly pooled?: boolean;
}

/** One row of such a list. The rows of a request can be anywhere in the files. */
export interface ForeignImpression extends Shown {
  readonly is: 'impression';
  readonly candidate: ForeignCandidate;
}

export interface ForeignFeedback extends ForeignAct {
  readonly is: 'feedback';
  /** What the log calls the event, if it gives it a name. */
  readonly id?: string;
  /** Undefined if the log does not tell the request. */
  readonly request: string | undefined;
  readonly owners: Owners;
  readonly candidate: string;
  readonly position: number | undefined;
  /** Declared values of the event, such as `revenue`. */
  readonly values: JsonObject;
}

/** Attributes of an entity. A later event adds to an earlier one. */
export interface ForeignEntity {
  readonly is: 'entity';
  readonly type: string;
  readonly id: string;
  readonly time: number;
  readonly values: JsonObject;
}

export type ForeignEvent = ForeignRanking | ForeignImpression | ForeignFeedback | ForeignEntity;

/** Receives what one row holds. */
export interface EventOutput {
  event(event: ForeignEvent): void;
  reject(reason: RejectReason, detail: string): void;
  /** The row holds nothing that is used. @param what the kind of the row */
  skip?(what: string): void;
}

/** What the stream of a source knows of a row. Files know nothing. */
export interface Arrival {
  /** When the message was added, epoch milliseconds: the time of a row that gives none. */
  readonly time: number;
  /** The place of the row in its stream: the id of a row that gives none. A second delivery has the same. */
  readonly id: string;
}

/** Reads the rows of one file, in order, or of the messages of a source. */
export interface RowReader {
  read(row: JsonObject, output: EventOutput, arrival?: Arrival): void;
  /** Called after the last row. */
  end?(output: EventOutput): void;
}

/** Why a row, or a part of it, is not imported. docs/import.md is generated from this table. */
export const REJECT_REASONS = {
  unreadable: 'The row is not JSON, not UTF-8, too long, or has another number of cells than the header.',
  no_id: 'The id of the item, user or request is missing or empty.',
  bad_id: 'The id is not a text or a whole number, or it is longer than 1,024 characters.',
  no_time: 'The row has no time.',
  bad_time: 'The time cannot be read: it is neither a number nor ISO 8601 text.',
  bad_position: 'The position is not a whole number, or it is before the first position.',
  bad_propensity: 'The propensity is not a number above 0 and at most 1.',
  bad_flag: 'The cell of a click or order is not yes or no, a number, a time or a position.',
  no_candidates: 'The list of candidates is empty, or it is not a list.',
  unknown_event: 'The mapping does not name the type of the event.',
  bad_entity: 'The store refuses the entity: an attribute has another type than the project declares.',
  too_many_candidates: 'The list is longer than the limit of the pipeline (`limits.candidates`).',
  bad_feedback: 'The store refuses the feedback: its time or a value is not one that it takes.',
  bad_request: 'The pipeline refuses the request: a required field is missing, or a value has another type.',
} as const;
export type RejectReason = keyof typeof REJECT_REASONS;
