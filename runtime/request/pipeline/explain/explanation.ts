import type { ComponentKind } from '../../../ground/api/plugin.js';
import type { StatusName } from '../../../ground/api/status.js';
import type { ReadReport } from '../../../state/index/feature-source.js';
import type { Card } from '../../../state/index/cards.js';
import type { MadeCase } from './made-case.js';
import type { Degradation } from '../page/degraded.js';
import type { BroughtCandidates, RetrievalReport } from '../request/retrieval-report.js';
import type { IndexedCandidates } from '../request/index-candidates.js';
import type { PipelineAnswer } from '../answer-types.js';
import type { StageName } from '../stages.js';

export const STEP_OUTCOMES = ['ran', 'not_asked_for', 'failed'] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** How a value was divided. `tree_shap_pair` divides the difference of two candidates. */
export const ACCOUNT_METHODS = ['sum', 'tree_shap', 'tree_shap_pair', 'opaque'] as const;

/** What can become of a candidate. */
export const CANDIDATE_FATES = {
  ranked: 'it has a place in the ranking, perhaps on another page',
  removed: 'a step removed it',
  cut: 'it was found, and is beyond `most` of `merge`',
  not_found: 'no retriever has it among its first candidates, at most `most`',
  not_sent: 'it is not among the candidates of the request',
} as const;

/** Why a candidate is where it is, or not there. */
export interface ExplainedFate {
  readonly candidate_id: string;
  readonly fate: keyof typeof CANDIDATE_FATES;
  /** What people see of it, if its type has a `display:`. */
  readonly card?: Card;
  /** If it is ranked, from 1 over all pages. */
  readonly place?: number;
  /** The step that removed it, with the rules inside the step, and why the step removes candidates. */
  readonly step?: number;
  readonly as?: string;
  readonly rules?: readonly string[];
  readonly reason?: string;
  /** Its places in the lists of the retrievers that found it, and in the merged list. */
  readonly found?: NonNullable<RetrievalReport['sought']>;
}

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
    /** Candidates that the index does not have; absent if it has all. */
    readonly missing?: number;
    /** Candidates that remain after all filters. */
    readonly left: number;
    /** If the candidates came from the index. */
    readonly index?: IndexedCandidates;
    /** If pins brought some of the candidates. */
    readonly brought?: BroughtCandidates;
    /** If retrievers found the candidates. */
    readonly retrieval?: RetrievalReport;
  };
  /** If the request asks for a candidate by `why`. */
  readonly why?: ExplainedFate;
  /** The values of the params, by name. */
  readonly params: Readonly<Record<string, number>>;
  /** If the request asks for other values of params: the change of the file as a unified diff; empty if nothing differs. */
  readonly params_diff?: string;
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
  readonly outside: {
    readonly round_trips: number;
    readonly keys_read: number;
    /** What became of the reads of readers, in the order of their ends. */
    readonly reads?: readonly ReadReport[];
  };
  /** Undeclared fields of the body, most frequent first; at most 50. */
  readonly unknown_fields: readonly { readonly field: string; readonly times: number }[];
  /** With `accept: lax`, if values were converted: their fields, in the same order; at most 50. */
  readonly coerced_fields?: readonly { readonly field: string; readonly times: number }[];
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
  /** If it was requested: why one candidate has another place than the other. */
  readonly compared?: ExplainedPair;
  /** If it was requested: what lifts a candidate to a place. */
  readonly lifts?: ExplainedLifts;
  /** If it was requested: what the ranking read and answered, as a case of a test. */
  readonly test_case?: MadeCase;
  /** Of a preview of a draft: the names of the rules of lists that apply. */
  readonly heard?: readonly string[];
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
  readonly outcome: StepOutcome;
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
  /** What people see of it, if its type has a `display:`. */
  readonly card?: Card;
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
  /** If they were requested: how the score came to be, first, and then what it reads. */
  readonly contributions?: readonly ExplainedAccount[];
  /** All known values that the plan reads or computes for the candidate, by name. */
  readonly values: Readonly<Record<string, ExplainedValue>>;
}

/** Two candidates. All numbers are those of the first minus those of the second. */
export interface ExplainedPair {
  readonly candidates: readonly [ComparedCandidate, ComparedCandidate];
  /** The step that put one of them below the other. They are then compared by the scores before it. */
  readonly split?: { readonly step: number; readonly as: string; readonly below: string };
  /** Why they are not compared. */
  readonly reason?: string;
  /** The value of the first account and all amounts of `changed` sum to it. */
  readonly difference?: number;
  /** What steps changed after the one that set both scores. */
  readonly changed?: readonly { readonly step: number; readonly as: string; readonly amount: number }[];
  readonly contributions?: readonly ExplainedAccount[];
}

/** What lifts a candidate to a place, or to a better one. */
export interface ExplainedLifts {
  readonly candidate_id: string;
  readonly to: number;
  /** Where it is; null if a step removed it. */
  readonly place: number | null;
  /** How many values were tried, one at a time. */
  readonly tried: number;
  /** Numbers of the candidate that were not tried, because there are too many. */
  readonly left_out?: number;
  /** Why nothing was tried. */
  readonly reason?: string;
  /** The smallest change in percentiles first; at most one of each column. Each was ranked again. */
  readonly lifts: readonly ExplainedLift[];
}

/** One value of a candidate, and one that lifts it. Percentiles are those of the candidates of the request, 0 to 100. */
export interface ExplainedLift {
  readonly name: string;
  readonly value: number;
  readonly percentile: number;
  readonly new_value: number;
  readonly new_percentile: number;
  /** Where the candidate is then. */
  readonly place: number;
}

export interface ComparedCandidate extends Pick<ExplainedCandidate, 'candidate_id' | 'score' | 'changes'> {
  /** Null if a step removed it. */
  readonly place: number | null;
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

/**
 * How a value came to be: base + Σ amounts + remainder is the value, or `sum` where the model turns the sum into another
 * value. In a comparison all numbers are differences.
 */
export interface ExplainedAccount {
  /** `score`, the output of a step such as `ltr:score`, or the name of a definition. */
  readonly of: string;
  /** The step that made the value, in the order of the file; undefined for a definition. */
  readonly step?: number;
  readonly value: number;
  /** The sum that was divided, where the value is another: e.g. a probability. */
  readonly sum?: number;
  readonly method: (typeof ACCOUNT_METHODS)[number];
  /** Why the value is not divided. */
  readonly reason?: string;
  readonly base?: number;
  readonly terms?: readonly ExplainedTerm[];
  /** What the terms miss, by the rounding of the model or a fault of its plugin; undefined if nothing. */
  readonly remainder?: number;
}

export interface ExplainedTerm extends ExplainedPart {
  readonly amount: number;
  /** The amount is this number times the value. */
  readonly weight?: number;
  /** The model's name of the column. */
  readonly column?: string;
  /** In a comparison, what the other candidate has. */
  readonly against?: ExplainedPart;
}

/** A part of an expression, with its value and the parts that it is made of. */
export interface ExplainedPart extends ExplainedValue {
  /** As written. */
  readonly text: string;
  /** The account of the value, if it has one. */
  readonly of?: string;
  readonly parts?: readonly ExplainedPart[];
}

export interface ExplainedValue {
  /** Null if the status is not a known one. A bool is 0 or 1; a time is epoch milliseconds; PRIVATE if it is private. */
  readonly value: number | string | readonly (number | string | null)[] | null;
  readonly status: StatusName;
  /** If the status is `defaulted`: why the default was used. */
  readonly cause?: StatusName;
  /** Total number of elements or characters, if `value` holds only the first ones. */
  readonly length?: number;
}
