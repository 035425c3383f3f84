/**
 * What records become on their way to the outcomes of units: one line of JSON each in a partition. `Exposed` and `Told`
 * are in the partition of their request; `Request` and `Act` in the partition of their unit.
 */

/** A request of the experiment. */
export interface Exposed {
  readonly is: 'exposed';
  readonly request: string;
  readonly unit: string;
  /** The arm with the credit for each candidate of the page, if the experiment interleaves. */
  readonly teams: Readonly<Record<string, string>> | undefined;
  /** Whether the request does not count, so that its feedback is only of the past. */
  readonly isOther?: true;
}

/** Feedback that names its request. */
export interface Told {
  readonly is: 'told';
  readonly request: string;
  readonly event: string;
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** What the event adds to each metric; null: nothing. */
  readonly values: Values;
  /** See `eventIdentity`. */
  readonly identity: string;
}

/** A page that a unit asked for. */
export interface Request {
  readonly is: 'request';
  readonly unit: string;
  readonly arm: string;
  readonly time: number;
  readonly failed: boolean;
  readonly degraded: boolean;
}

/** What a unit did. */
export interface Act {
  readonly is: 'act';
  readonly unit: string;
  readonly event: string;
  readonly time: number;
  readonly values: Values;
  readonly isOther?: true | undefined;
  /** The arm with the credit. */
  readonly team: string | undefined;
  /** See `eventIdentity`. */
  readonly identity: string;
  /** How its unit was found. */
  readonly by: 'byRequest' | 'byUnit' | 'byFile';
}

export type Values = readonly (number | null)[];

/** What a file says of the past of a unit. */
export interface Past {
  readonly is: 'past';
  readonly unit: string;
  readonly value: number;
  readonly base: number;
}
