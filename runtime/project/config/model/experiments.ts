import type { JsonObject } from '../../../ground/api/types.js';
import { YAML_WORDS, type Word } from './yaml-keys.generated.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

export type ExperimentMode = Word<'experiment.mode'>;

/** `experiments/<name>.yaml` */
export interface ExperimentDefinition {
  readonly name: string;
  /** The pipeline whose requests take part. */
  readonly pipeline: Located<string>;
  readonly mode: ExperimentMode;
  /** The field of the request whose entity is the unit, such as `user`. */
  readonly unit: Located<string>;
  /** The field of the request that names the arm, if another platform assigns the units. There is then no share and no layer. */
  readonly assign: Located<string> | undefined;
  /** From 0 to 1: the share of the units that take part. */
  readonly share: number;
  /** From 0 to 1: where the share begins in the layer. */
  readonly offset: number;
  /** By default the name of the experiment. */
  readonly layer: Located<string>;
  /** Epoch milliseconds, inclusive; undefined: since ever. */
  readonly from: number | undefined;
  /** Epoch milliseconds, exclusive; undefined: without end. */
  readonly until: number | undefined;
  /** By name, in the order of the file. The first is the control: it changes nothing. */
  readonly arms: ReadonlyMap<string, ArmDefinition>;
  /** Undefined if the file has no `metrics:`. */
  readonly metrics: ExperimentMetrics | undefined;
  readonly file: SourceFile;
  readonly at: Span;
}

export interface ArmDefinition {
  readonly name: string;
  /** Relative to the weights of the other arms. */
  readonly weight: number;
  /** The values that replace those of the pipeline. */
  readonly params: ReadonlyMap<string, Located<number>>;
  /** The pipeline that runs instead. */
  readonly pipeline: Located<string> | undefined;
  readonly at: Span;
}

export interface ExperimentMetrics {
  /** It decides. */
  readonly primary: ExperimentMetric;
  readonly secondary: readonly ExperimentMetric[];
  readonly guard: readonly ExperimentGuard[];
}

/** What the decision depends on. Records carry it, so that a report can tell whether it was changed after the start. */
export function ruleOf(metrics: ExperimentMetrics): JsonObject {
  const text = JSON.stringify(metrics, (key, value: unknown) => (key === 'at' ? undefined : value));
  return JSON.parse(text) as JsonObject;
}

/** What a unit did within a time from its first exposure. */
export interface ExperimentMetric {
  /** The kind of feedback. */
  readonly event: string;
  /** `count` of the events, `any` (1 or 0), or the `sum` of one of their values. */
  readonly value: { readonly kind: 'count' | 'any' } | { readonly kind: 'sum'; readonly of: string };
  /** The kind of feedback that the metric is divided by; undefined: the metric is for each unit. */
  readonly over: string | undefined;
  /** Milliseconds. */
  readonly within: number;
  /** Milliseconds before the first exposure from which on the past counts; undefined: the metric is not adjusted. */
  readonly before: number | undefined;
  readonly at: Span;
}

export const GUARDS = YAML_WORDS['experiment.metrics.guard'];

export type Guard = (typeof GUARDS)[number];

export interface ExperimentGuard {
  readonly metric: Guard;
  /** The largest relative worsening that is accepted, such as 0.1. */
  readonly margin: number;
  readonly at: Span;
}
