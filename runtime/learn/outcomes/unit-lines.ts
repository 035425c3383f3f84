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
}

/** Feedback that names its request. */
export interface Told {
  readonly is: 'told';
  readonly request: string;
  readonly event: string;
  readonly subjectType: string;
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** What the event adds to a metric that sums a value. */
  readonly value: number;
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
  readonly value: number;
  /** The arm with the credit. */
  readonly team: string | undefined;
  /** Equal for acts that are the same one; undefined for acts that are already known to differ. */
  readonly identity: string | undefined;
}
