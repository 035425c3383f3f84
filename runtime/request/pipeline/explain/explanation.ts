import type { ComponentKind } from '../../../ground/api/plugin.js';
import type { StatusName } from '../../../ground/api/status.js';
import type { Degradation } from '../page/degraded.js';
import type { IndexedCandidates } from '../request/index-candidates.js';
import type { PipelineAnswer } from '../answer-types.js';
import type { StageName } from '../stages.js';

/**
 * The answer of `<route>/explain`. It explains the answer to one request. The page and the plan bound its size.
 */
export interface Explanation {
  readonly request_id: string;
  readonly run_id: string;
  readonly pipeline: string;
  readonly route: string;
  readonly candidates: {
    readonly sent: number;
    /** Candidates that were dropped because their id occurred earlier: their number, and some of their ids. */
    readonly duplicates: { readonly count: number; readonly ids: readonly string[] };
    /** Candidates that remain after all filters. */
    readonly left: number;
    /** If the candidates came from the index. */
    readonly index?: IndexedCandidates;
  };
  /** The values of the params, by name. */
  readonly params: Readonly<Record<string, number>>;
  /** The experiments that the request takes part in. */
  readonly experiments?: readonly {
    readonly experiment: string;
    readonly arm: string;
    readonly excluded?: string;
    /** If the arms could not be interleaved: what failed. */
    readonly problem?: string;
  }[];
  /** The reasons why the answer is degraded; the route sends them in the header `Millrace-Degraded`. */
  readonly degraded: readonly Degradation[];
  /** In the order of the stages. */
  readonly stages: readonly { readonly stage: StageName; readonly ms: number }[];
  readonly store: { readonly round_trips: number; readonly keys_read: number };
  /** The same counts for features that are stored outside the store. */
  readonly outside: { readonly round_trips: number; readonly keys_read: number };
  /** Undeclared fields of the body, most frequent first; at most 50. */
  readonly unknown_fields: readonly { readonly field: string; readonly times: number }[];
  /** Number of values of each view with each status. */
  readonly features: readonly {
    readonly view: string;
    readonly status: StatusName;
    /** If the status is `defaulted`: why the default was used. */
    readonly cause?: StatusName;
    readonly values: number;
  }[];
  /** In execution order. */
  readonly steps: readonly ExplainedStep[];
  /** Values with one value for the whole request, by name. */
  readonly request: Readonly<Record<string, ExplainedValue>>;
  /** For a pipeline that scores: the values of `answer:`. */
  readonly answered?: Readonly<Record<string, ExplainedValue>>;
  /** The candidates of the answered page, in order; for a pipeline that scores, the scored entity. */
  readonly page: readonly ExplainedCandidate[];
  /** The answer that the route would have returned, except that private values are PRIVATE. */
  readonly answer: PipelineAnswer;
}

export interface ExplainedStep {
  /** 1-based, in the order of the file. */
  readonly step: number;
  readonly use: string;
  readonly as: string;
  readonly kind: ComponentKind;
  /** The version of a model's file. */
  readonly version?: string;
  /** What the step decided when it was compiled, as in `millrace plan`: e.g. which statistics it uses. */
  readonly notes?: readonly string[];
  readonly when?: string;
  readonly top?: number;
  /** `not_asked_for`: `when:` was not true, or the step is an effect, which an explanation does not run. */
  readonly outcome: 'ran' | 'not_asked_for' | 'failed';
  /**
   * For a filter, why it removed candidates; for a failed step, its error; for a step that was not asked for, why it
   * did not run.
   */
  readonly reason?: string;
  /** For a filter, or a rule that removed some: the number of removed candidates, and some of their ids. */
  readonly removed?: { readonly count: number; readonly ids: readonly string[] };
  /** For a filter: candidates that were kept only because the condition was absent. */
  readonly undecided?: number;
  /** For a rule: number of candidates that it changed. */
  readonly applied?: number;
  /** For a rule, by the name of a rule inside it: ids that it removed. */
  readonly hidden?: Readonly<Record<string, readonly string[]>>;
  /** For a rule: candidates that it left unchanged because a value was unknown or not finite. */
  readonly skipped?: number;
  /** For a rule: how many of them it gave a score that is not finite; absent if none. */
  readonly not_finite?: number;
  /** For a rule or filter, by the name that it reads: for how many candidates the value is unknown, by status. */
  readonly not_known?: Readonly<Record<string, Readonly<Partial<Record<StatusName, number>>>>>;
  /** The names that the step reads. */
  readonly reads: readonly string[];
  /** For a feature step or model: number of cells of each output with each status. */
  readonly outputs?: Readonly<Record<string, Readonly<Partial<Record<StatusName, number>>>>>;
}

export interface ExplainedCandidate {
  readonly candidate_id: string;
  /** 1-based, in the whole ranking. */
  readonly place: number;
  readonly ranked_score: number | null;
  /**
   * The score after all steps; it differs from `ranked_score` only if a rule fixed the place. Null if no step set it.
   */
  readonly score: number | null;
  /** Of an interleaved request: the arm that placed it, null if both did; and its place in the order of each arm. */
  readonly interleaved?: {
    readonly team: string | null;
    readonly places: Readonly<Record<string, number | null>>;
  };
  /** The steps that changed the score or the place, in execution order. */
  readonly changes: readonly ExplainedChange[];
  /** If a step drew the place: the place without it, and the probabilities of the draw. */
  readonly drawn?: ExplainedDraw;
  /** All known values that the plan reads or computes for the candidate, by name. */
  readonly values: Readonly<Record<string, ExplainedValue>>;
}

export interface ExplainedDraw {
  readonly place_before: number;
  /** The probability that the candidate was drawn for its place, given those above it. */
  readonly propensity: number;
  /** The probability that the candidate is at its place, whatever is above it. */
  readonly marginal: number;
}

/**
 * `step` is the number in the order of the file, because several rules may have the same name. `moved_from` is the place by
 * all weaker rules, `moved_to` the place with this rule, from 1. Without `moved_from` a weaker rule would remove the candidate.
 * `pin_lost` is the position of a pin over which another pin wins.
 */
export type ExplainedChange = {
  readonly step: number;
  readonly as: string;
  /** The rules inside the step that changed it, as `campaigns:black_friday`. */
  readonly rules?: readonly string[];
} & (
  | { readonly before: number | null; readonly after: number | null }
  | { readonly pinned_to: number; readonly moved_from?: number }
  | { readonly pin_lost: number }
  | { readonly moved_from?: number; readonly moved_to: number }
  | { readonly put_below: true; readonly moved_from?: number; readonly moved_to?: number }
);

export interface ExplainedValue {
  /** Null if the status is not a known one. A bool is 0 or 1; a time is epoch milliseconds; PRIVATE if it is private. */
  readonly value: number | string | readonly (number | string | null)[] | null;
  readonly status: StatusName;
  /** If the status is `defaulted`: why the default was used. */
  readonly cause?: StatusName;
  /** Total number of elements or characters, if `value` holds only the first ones. */
  readonly length?: number;
}
