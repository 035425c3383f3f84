import type { Choice } from './choices.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

export type ExperimentMode = Choice<'experiment.mode'>;

/** `experiments/<name>.yaml` */
export interface ExperimentDefinition {
  readonly name: string;
  /** The pipeline whose requests take part. */
  readonly pipeline: Located<string>;
  readonly mode: ExperimentMode;
  /** The field of the request whose entity is the unit, such as `user`. */
  readonly unit: Located<string>;
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
  readonly primary: ExperimentMetric;
  readonly guard: readonly ExperimentGuard[];
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
  readonly at: Span;
}

export const GUARDS = ['latency_p50', 'latency_p95', 'latency_p99', 'degraded', 'failed'] as const;

export type Guard = (typeof GUARDS)[number];

export interface ExperimentGuard {
  readonly metric: Guard;
  /** The largest relative worsening that is accepted, such as 0.1; undefined: the default of the report. */
  readonly bound: number | undefined;
  readonly at: Span;
}
