import type { StatusName } from '../../ground/api/status.js';
import type { LeftOut } from './features.js';

/** What became of the feedback of the kinds that have a grade. The counts add up to all of it. */
export interface AttributionCounts {
  /** Joined by the request id. */
  by_request: number;
  /** Joined by the last click of the same user on the same candidate. */
  by_last_click: number;
  /** Nothing to join with: the request or the candidate is not in the ledger, or there is no click. */
  orphans: number;
  /** The same request, kind and candidate again. */
  duplicates: number;
  /** Later than the window after the ranking. */
  late: number;
  /** Of a request that is not in the data set. */
  outside: number;
  /** Of a kind without a grade, or about another type of entity. */
  unused: number;
}

export function attributionCounts(): AttributionCounts {
  return { by_request: 0, by_last_click: 0, orphans: 0, duplicates: 0, late: 0, outside: 0, unused: 0 };
}

export interface RequestCounts {
  train: number;
  holdout: number;
  /** Younger than the window: their feedback may still come. */
  censored: number;
  /** The request failed. */
  failed: number;
  /** Between the parts of a split by time. */
  gap: number;
  /** Nothing was ranked: all candidates were removed. */
  empty: number;
  /** No row of the request has a grade above 0. They are in the data set. */
  without_feedback: number;
}

export interface FeatureSummary {
  readonly name: string;
  /** Present if it differs from the name. */
  readonly column?: string;
  readonly type: 'number' | 'text';
  readonly scope: 'request' | 'candidate';
  /** How many rows have each status. `not_logged`: the version of the pipeline did not log it. */
  readonly statuses: Readonly<Partial<Record<StatusName | 'not_logged', number>>>;
  /** Of a number, over the train part: the minimum, nine deciles and the maximum of the values that are present. */
  readonly quantiles?: readonly number[];
  /** Of a text, over the train part: the most frequent values and their shares. */
  readonly values?: readonly { readonly value: string; readonly share: number }[];
  /** The share of the rows of the train part that have no value. */
  readonly missing: number;
}

export const MANIFEST_FORMAT = 1;

/** `manifest.json` of a data set. */
export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  /** ISO 8601. */
  readonly created: string;
  readonly source: 'ledger' | 'judgments';
  readonly pipeline: string;
  /** The versions of the pipeline and how many rankings each has. */
  readonly pipeline_versions: Readonly<Record<string, number>>;
  readonly candidate_type: string;
  readonly files: {
    readonly format: string;
    readonly train: string;
    readonly holdout: string;
  };
  readonly features: readonly FeatureSummary[];
  readonly left_out: readonly LeftOut[];
  readonly label: Readonly<Record<string, number>>;
  readonly window_ms: number;
  readonly requests: Readonly<RequestCounts>;
  readonly rows: { readonly train: number; readonly holdout: number; readonly with_grade: number };
  readonly attribution: Readonly<AttributionCounts>;
  readonly attribute: Readonly<Record<string, { readonly by: 'last_click'; readonly window_ms: number }>>;
  readonly split: {
    readonly by: 'time' | 'hash';
    readonly train: number;
    readonly type?: string;
    /** Of a split by time: the time of the first request held out. */
    readonly at?: string;
    readonly gap_ms?: number;
  };
  readonly examined: {
    readonly rule: string;
    /** Whether weights by propensity may be used with these rows. */
    readonly propensities: boolean;
  };
  /** The times of the first and the last request. */
  readonly time?: { readonly from: string; readonly to: string };
  /** Some features have values of the time of the import, not of the request. */
  readonly computed_at_import?: boolean;
  /** How many values per feature the quantiles are made of. */
  readonly sampled: number;
}
