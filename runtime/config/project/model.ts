/**
 * The typed, frozen form of a project's files. Names match the grammar; references between files are not resolved
 * yet.
 */
import type { Node } from 'yaml';
import type { RecordKind, SinkFormat } from '../../api/ledger.js';
import type { JsonValue, ValueType } from '../../api/types.js';
import type { CurationList } from '../curation/model.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

/** `schemas/entities/<name>.yaml` */
export interface EntityType {
  readonly name: string;
  /** The field that contains the id: `<name>_id`, unless the base type or `key:` sets another. */
  readonly key: string;
  /** See `storedId`. */
  readonly normalizesIds?: true;
  readonly attributes: ReadonlyMap<string, AttributeDefinition>;
  /** Undefined for predefined types that no file of the project declares. */
  readonly at: Span | undefined;
}

export interface AttributeDefinition {
  readonly name: string;
  readonly type: ValueType;
  /** True if explanations, events, logs and messages must not show its values. */
  readonly isPrivate?: true;
  readonly at: Span;
}

/** `schemas/features/<name>.yaml` */
export interface FeatureView {
  readonly name: string;
  /** The entity types of its key, in order. It is empty for a global view. */
  readonly of: readonly string[];
  /** Milliseconds; null if rows never expire. */
  readonly ttl: number | null;
  readonly expired: 'missing' | 'stale' | 'fail';
  /** The store key that the view's record shares with other views of the same entities. */
  readonly group: string;
  /** True if every pushed row is recorded in the ledger. */
  readonly history?: true;
  readonly features: ReadonlyMap<string, FeatureDefinition>;
  /** Where the rows are, if they are not in the store. The service then only reads them. */
  readonly source?: FeastSource;
  /** The counter that the view presents to pipelines. Its rows are counted from feedback. */
  readonly counter?: CounterDefinition;
  /** How Feast's clients name the view and where they use it, if the file says so. */
  readonly feast?: FeastUse;
  readonly at: Span;
}

/** How Feast's clients use a view. For a view that Feast stores, `source` has the names. */
export interface FeastUse {
  /** The name of the view in Feast. */
  readonly view: string;
  /** The names of the join keys, in the order of the view's entities; undefined for those of the entity types. */
  readonly joinKeys: readonly string[] | undefined;
  /** The names in Feast of features that have another name here. */
  readonly fields: ReadonlyMap<string, string>;
  /** Features whose texts hold JSON values. */
  readonly json: ReadonlySet<string>;
  /** The push sources that write to the view. */
  readonly push: readonly string[];
  /** By feature service: the features of the view that it reads. */
  readonly services: ReadonlyMap<string, readonly string[]>;
}

/** A view whose rows Feast materialises into Redis. */
export interface FeastSource {
  readonly project: string;
  /** Address of that Redis. Undefined means the service's own Redis. */
  readonly url: string | undefined;
  /** Feast's `entity_key_serialization_version`. */
  readonly keyVersion: 2 | 3;
  /** The name of the view in Feast. */
  readonly view: string;
  /** In the order of the view's entities. */
  readonly joinKeys: readonly { readonly name: string; readonly type: JoinKeyType }[];
  /** The names in Feast of features that have another name here. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The type of an entity's ids in Feast. */
export type JoinKeyType = 'string' | 'int64' | 'int32' | 'timestamp' | 'bytes';

export interface FeatureDefinition {
  readonly name: string;
  readonly type: ValueType;
  /** Replaces a missing, null or expired value. Undefined if no default is declared. */
  readonly default: JsonValue | undefined;
  /** As for an attribute. */
  readonly isPrivate?: true;
  readonly at: Span;
}

/** `pipelines/<name>.yaml` */
export interface PipelineDefinition {
  readonly name: string;
  readonly at: Span;
  readonly file: SourceFile;
  readonly route: Located<string>;
  /** Whether the pipeline ranks candidates or scores one entity. */
  readonly task: 'rank' | 'score';
  /** The entity type that the pipeline ranks or scores. */
  readonly candidateType: Located<string>;
  readonly request: RequestDefinition;
  readonly limits: PipelineLimits;
  /** What becomes of a request if the store cannot be read: 503, or the candidates as they were sent. */
  readonly onStoreError: 'fail' | 'unranked';
  readonly features: readonly FeatureRequirement[];
  readonly params: ReadonlyMap<string, ParamDefinition>;
  /** Name → text of the expression. */
  readonly define: ReadonlyMap<string, Located<string>>;
  readonly components: readonly StepDefinition[];
  /**
   * For a pipeline that scores: the values that the answer contains in addition to the score; name → text of the
   * expression.
   */
  readonly answer: ReadonlyMap<string, Located<string>>;
  readonly page: { readonly size: number; readonly maxSize: number };
  /** What the ledger records of its requests; undefined if it records nothing. */
  readonly log: LogDefinition | undefined;
}

/** `log:` of a pipeline. */
export interface LogDefinition {
  /** From 0 to 1: the share of the units whose requests are logged. */
  readonly share: number;
  /** The field of the request whose entity is the unit, or `request`: every request is a unit. */
  readonly unit: string;
  /** The candidates to log. */
  readonly candidates: 'page' | 'all';
  /** How many candidates are logged besides the page. */
  readonly sample: number;
  /** `models`, `all`, or a list of names; a list may have `models`, too. The names are not resolved yet. */
  readonly features: 'models' | 'all' | readonly Located<string>[];
  /** The entity types whose ids are replaced by hashes. */
  readonly hash: ReadonlyMap<string, Span>;
  /** The place of `log`. */
  readonly at: Span;
}

/** A named number under `params:`. Expressions and options of type number use it by name. */
export interface ParamDefinition {
  readonly name: string;
  readonly value: number;
  /** The values that tuning may give it. Undefined: tuning leaves it as it is. */
  readonly range: { readonly min: number; readonly max: number } | undefined;
  /** The place of its name. */
  readonly at: Span;
}

export interface RequestDefinition {
  /**
   * Attributes that a candidate, or the scored entity, carries in the request and that its entity type does not
   * declare.
   */
  readonly candidates: ReadonlyMap<string, AttributeDefinition>;
  /** The other fields of the body, by name. */
  readonly fields: ReadonlyMap<string, RequestField>;
  /** What to do with fields that nothing declares: count them, or answer 422. */
  readonly unknown: 'ignore' | 'refuse';
  /** What to do with a candidate whose id appeared earlier: leave it out and count it, or answer 422. */
  readonly duplicates: 'ignore' | 'refuse';
}

export type RequestField =
  | {
      readonly kind: 'entity';
      readonly name: string;
      readonly entity: string;
      readonly optional: boolean;
      readonly at: Span;
    }
  | {
      readonly kind: 'scalar';
      readonly name: string;
      readonly type: ValueType;
      readonly optional: boolean;
      /** True if the values must not be shown. */
      readonly isPrivate?: true;
      readonly at: Span;
    };

export interface PipelineLimits {
  /** The maximum number of candidates in a request. */
  readonly candidates: number;
  /** Milliseconds from the first processed byte to the answer. */
  readonly time: number;
}

/** One line of `features:`: a view, one feature of it, or a view bound to paths. */
export interface FeatureRequirement {
  /** The name before the colon in expressions: the view's name, or the binding's. */
  readonly name: Located<string>;
  readonly view: Located<string>;
  /** The one required feature. Undefined means all features that are used. */
  readonly feature: Located<string> | undefined;
  /**
   * Paths such as `product.brand`, one for each entity of the view. Undefined if the view is bound to root entities
   * by type.
   */
  readonly paths: readonly Located<string>[] | undefined;
  readonly at: Span;
}

/** One step of `components:`. */
export interface StepDefinition {
  readonly use: Located<string>;
  readonly as: Located<string> | undefined;
  readonly when: Located<string> | undefined;
  readonly top: Located<number> | undefined;
  readonly onError: 'fail' | 'skip';
  /** The YAML under `with:`. It is checked against the plugin's options schema when the pipeline is compiled. */
  readonly with: Node | undefined;
  readonly at: Span;
}

/** A kind of feedback: an entry of `events:` in millrace.yaml. */
export interface EventKind {
  readonly name: string;
  /** The values that an event of this kind may carry. */
  readonly values: ReadonlyMap<string, EventValueType>;
}

/** The type of an event's value. Kinds that declare the same value give it the same type. */
export interface EventValueType {
  readonly kind: 'int' | 'float' | 'bool' | 'string';
}

/** `schemas/counters/<name>.yaml` */
export interface CounterDefinition {
  readonly name: string;
  /** The entity types of its key, in order. It is empty for a global counter. */
  readonly of: readonly string[];
  /** By entity of the key: the path from an entity of the event, such as `product`, `brand`. */
  readonly by: readonly (readonly string[])[];
  /** How long the counts of a key are kept after its last event, in milliseconds. */
  readonly ttl: number;
  readonly features: ReadonlyMap<string, CounterFeature>;
  readonly at: Span;
}

/** A feature of a counter. It has a window, a half-life, or neither: the time of the last event. */
export interface CounterFeature {
  readonly name: string;
  /** The kind of feedback that it counts. */
  readonly event: string;
  readonly value: CounterValue;
  /** Milliseconds. */
  readonly window: number | undefined;
  /** Milliseconds. */
  readonly halfLife: number | undefined;
  /** For a rate: the kind of feedback that it divides by. */
  readonly over: string | undefined;
  /** For a rate: events of `over` that are assumed before any event, and their rate. */
  readonly prior: { readonly weight: number; readonly mean: number | 'global' } | undefined;
  /** True if the rate divides by the events that are expected at the positions of the events of `over`. */
  readonly expected: boolean;
  readonly at: Span;
}

export type CounterValue =
  | { readonly kind: 'count' }
  /** `of` is a value of the kind of feedback, or `quantity`. */
  | { readonly kind: 'sum'; readonly of: string }
  /** `of` is an entity type, or a value of the kind of feedback. */
  | { readonly kind: 'distinct'; readonly of: string }
  | { readonly kind: 'last' };

/** `sinks/<name>.yaml` */
export interface SinkDefinition {
  readonly name: string;
  /** The name of the plugin. */
  readonly use: Located<string>;
  /** The kinds of records that it takes. */
  readonly take: readonly RecordKind[];
  readonly format: SinkFormat;
  /** The largest size of the records that wait. */
  readonly queueBytes: number;
  /** The YAML under `with:`. It is checked against the plugin's options schema when the project is compiled. */
  readonly with: Node | undefined;
  readonly file: SourceFile;
  readonly at: Span;
}

/** Where the messages of a source go. */
export interface SourceInto {
  readonly kind: 'feedback' | 'entities' | 'features';
  /** The entity type or the feature view. Undefined: each message names its own. */
  readonly name: string | undefined;
}

/** `sources/<name>.yaml` */
export interface SourceDefinition {
  readonly name: string;
  /** The name of the plugin. */
  readonly use: Located<string>;
  readonly into: SourceInto;
  /** A log that Millrace knows, or columns by name. Undefined: messages have the form of the HTTP API. */
  readonly map: string | Readonly<Record<string, string | readonly string[]>> | undefined;
  /** The kind of feedback of all messages; or, by the value of the column `type`, the kind, or null. */
  readonly event: string | Readonly<Record<string, string | null>> | undefined;
  /** By value of an event: its column. */
  readonly values: Readonly<Record<string, string>>;
  /** Only messages with one of the values are read, by column. */
  readonly where: Readonly<Record<string, readonly string[]>>;
  /** The first position, 0 or 1. */
  readonly positionsFrom: number;
  /** The entity type that mapped events and items are of. */
  readonly about: string;
  /** Where rejected messages go; the plugin has a default. */
  readonly rejected: string | undefined;
  /** The YAML under `with:`. It is checked against the plugin's schema when the project is compiled. */
  readonly with: Node | undefined;
  readonly file: SourceFile;
  readonly at: Span;
}

export const EXPERIMENT_MODES = ['split', 'shadow'] as const;
export type ExperimentMode = (typeof EXPERIMENT_MODES)[number];

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

/** All files of a project, parsed. */
export interface ProjectConfig {
  /** Absolute path of the project's folder. */
  readonly root: string;
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly counters: ReadonlyMap<string, CounterDefinition>;
  readonly pipelines: readonly PipelineDefinition[];
  /** The kinds of feedback by name, in the order of the file. */
  readonly events: ReadonlyMap<string, EventKind>;
  readonly sinks: readonly SinkDefinition[];
  readonly sources: readonly SourceDefinition[];
  readonly experiments: readonly ExperimentDefinition[];
  /** The lists of curation/. */
  readonly curation: readonly CurationList[];
  /** The npm packages whose plugins the project uses, as millrace.yaml lists them. */
  readonly packages: readonly Located<string>[];
}
