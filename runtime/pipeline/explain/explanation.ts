import type { ComponentKind } from '../../api/plugin.js';
import type { StatusName } from '../../api/status.js';
import type { Degradation } from '../page/degraded.js';
import type { PipelineAnswer } from '../answer-types.js';
import type { StageName } from '../stages.js';

/** Why one request was answered as it was: what `<route>/explain` answers. Bounded by the page and the plan. */
export interface Explanation {
  readonly request_id: string;
  readonly run_id: string;
  readonly pipeline: string;
  readonly route: string;
  readonly candidates: {
    readonly sent: number;
    /** Left out, since their id came before: how many, and some of their ids. */
    readonly duplicates: { readonly count: number; readonly ids: readonly string[] };
    /** Left once the filters had run. */
    readonly left: number;
  };
  /** What makes the answer worse than the pipeline promises; the route says it in its header `Millrace-Degraded`. */
  readonly degraded: readonly Degradation[];
  /** In the order of the stages. */
  readonly stages: readonly { readonly stage: StageName; readonly ms: number }[];
  readonly store: { readonly round_trips: number; readonly keys_read: number };
  /** The same of features that are kept outside the store. */
  readonly outside: { readonly round_trips: number; readonly keys_read: number };
  /** Fields of the body that nothing declares, the most frequent first; at most 50 of them. */
  readonly unknown_fields: readonly { readonly field: string; readonly times: number }[];
  /** How many values of each view had which status. */
  readonly features: readonly {
    readonly view: string;
    readonly status: StatusName;
    /** Of `defaulted`: why the default was used. */
    readonly cause?: StatusName;
    readonly values: number;
  }[];
  /** In the order run. */
  readonly steps: readonly ExplainedStep[];
  /** What the request knows once, by name. */
  readonly request: Readonly<Record<string, ExplainedValue>>;
  /** Of a pipeline that scores: what `answer:` names. */
  readonly answered?: Readonly<Record<string, ExplainedValue>>;
  /** The candidates of the answered page, in its order; the one entity that is scored. */
  readonly page: readonly ExplainedCandidate[];
  /** What the route would have answered. */
  readonly answer: PipelineAnswer;
}

export interface ExplainedStep {
  /** 1-based, as written. */
  readonly step: number;
  readonly use: string;
  readonly as: string;
  readonly kind: ComponentKind;
  /** Of a model's file. */
  readonly version?: string;
  readonly when?: string;
  readonly top?: number;
  /** `not_asked_for`: `when:` was not true, or the step is an effect, which an explanation leaves out. */
  readonly outcome: 'ran' | 'not_asked_for' | 'failed';
  /** Of a filter, why it removed; of a failed step, its error; of one that was not asked for, why not. */
  readonly reason?: string;
  /** Of a filter: how many it removed, and some of them. */
  readonly removed?: { readonly count: number; readonly ids: readonly string[] };
  /** Of a filter: candidates kept only because its condition was absent. */
  readonly undecided?: number;
  /** Of a rule: candidates that it set. */
  readonly applied?: number;
  /** Of a rule: candidates left as they were because a value was not known or not finite. */
  readonly skipped?: number;
  /** Of a rule or filter, by the name that it reads: for how many candidates it is not known, by status. */
  readonly not_known?: Readonly<Record<string, Readonly<Partial<Record<StatusName, number>>>>>;
  /** Names that it reads. */
  readonly reads: readonly string[];
  /** Of a feature step or model: how many cells of each output had which status. */
  readonly outputs?: Readonly<Record<string, Readonly<Partial<Record<StatusName, number>>>>>;
}

export interface ExplainedCandidate {
  readonly candidate_id: string;
  /** 1-based, in the whole ranking. */
  readonly place: number;
  readonly ranked_score: number | null;
  /** What the steps made of it; differs from `ranked_score` only where a rule fixed the place. Null: no step set it. */
  readonly score: number | null;
  /** Which step changed the score or the place, in the order run. */
  readonly changes: readonly ExplainedChange[];
  /** Everything known of it that the plan reads or computes, by name. */
  readonly values: Readonly<Record<string, ExplainedValue>>;
}

/** `step` is its number, as written: several rules may have one name. */
export type ExplainedChange = { readonly step: number; readonly as: string } & (
  | { readonly before: number | null; readonly after: number | null }
  | { readonly pinned_to: number }
  | { readonly put_below: true }
);

export interface ExplainedValue {
  /** Null where the status is not a known one. A bool is 0 or 1, a time epoch milliseconds. */
  readonly value: number | string | readonly (number | string | null)[] | null;
  readonly status: StatusName;
  /** Of `defaulted`: why the default was used. */
  readonly cause?: StatusName;
  /** Elements or characters there are, where `value` holds the first of them alone. */
  readonly length?: number;
}
