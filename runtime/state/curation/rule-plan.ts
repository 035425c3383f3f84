import type { NameProblem, Source } from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import type { ComparedName } from './late-expression.js';

/** What rules may add to the plan of one pipeline while the service runs. */
export interface AddedLimits {
  /** The most columns of all its lists together. */
  readonly columns: number;
  /** The most references that a path may follow: each may cost a round trip. */
  readonly references: number;
  /** How long the plans may take, in milliseconds. */
  readonly ms: number;
}

/** The limits of a service. docs/curation.md states them, too. */
export const ADDED_LIMITS: AddedLimits = { columns: 20, references: 2, ms: 5_000 };

/** A compiled plan that can be made anew with more columns, for rules that name what it does not read. */
export interface RulePlan {
  /** Of the plan as it was compiled. */
  readonly layout: FrameLayout;
  /** What a path means that the plan may not read. The plan does not change. */
  find(segments: readonly string[], limits: AddedLimits): Source | NameProblem;
  /** The attributes of the candidates that rules can compare, whether the plan reads them or not. */
  attributes(): readonly ComparedName[];
  /** Makes the plan anew with the columns of paths that `find` found. What it had keeps its slots. */
  widened(paths: Iterable<string>): WiderPlan;
  /** What new requests run; undefined: the plan as it was compiled. */
  inService: WiderPlan | undefined;
}

/** A plan with the columns of rules, which belong to it: a request that has begun keeps both. */
export interface WiderPlan {
  readonly layout: FrameLayout;
  /** How many columns it adds. */
  readonly added: number;
  /** What a path means that the plan reads now. */
  source(segments: readonly string[]): Source | NameProblem;
  /** By the step's list: its compiled rules. Set once, before requests can run it. */
  rules: ReadonlyMap<object, unknown>;
}
