/** The typed, frozen form of a project's files. Names are checked against the grammar, not yet against each other's contents. */
import type { Node } from 'yaml';
import type { JsonValue, ValueType } from '../../api/types.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

/** `schemas/entities/<name>.yaml` */
export interface EntityType {
  readonly name: string;
  /** The field that holds the id: `<name>_id`, unless the base type or `key:` says otherwise. */
  readonly key: string;
  readonly attributes: ReadonlyMap<string, AttributeDefinition>;
  /** Undefined for the predefined types that no file of the project declares. */
  readonly at: Span | undefined;
}

export interface AttributeDefinition {
  readonly name: string;
  readonly type: ValueType;
  readonly at: Span;
}

/** `schemas/features/<name>.yaml` */
export interface FeatureView {
  readonly name: string;
  /** The entity types of its key, in order; empty for a global view. */
  readonly of: readonly string[];
  /** Milliseconds; null: never expires. */
  readonly ttl: number | null;
  readonly expired: 'missing' | 'stale' | 'fail';
  /** The key that the view's record shares with others of the same entities. */
  readonly group: string;
  readonly features: ReadonlyMap<string, FeatureDefinition>;
  /** Where its rows are, if not in the store; they are then only read. */
  readonly source?: FeastSource;
  readonly at: Span;
}

/** A view whose rows Feast materialised into a Redis. */
export interface FeastSource {
  readonly project: string;
  /** Address of the Redis; undefined: the service's own. */
  readonly url: string | undefined;
  /** Feast's `entity_key_serialization_version`. */
  readonly keyVersion: 2 | 3;
  /** Feast's name of the view. */
  readonly view: string;
  /** In the order of the view's entities. */
  readonly joinKeys: readonly { readonly name: string; readonly type: JoinKeyType }[];
  /** Feast's names of features that have another name here. */
  readonly fields: ReadonlyMap<string, string>;
}

/** What Feast holds the ids of an entity to be. */
export type JoinKeyType = 'string' | 'int64' | 'int32' | 'timestamp' | 'bytes';

export interface FeatureDefinition {
  readonly name: string;
  readonly type: ValueType;
  /** Stands in for a missing, null or expired value; undefined: none declared. */
  readonly default: JsonValue | undefined;
  readonly at: Span;
}

/** `pipelines/<name>.yaml` */
export interface PipelineDefinition {
  readonly name: string;
  readonly at: Span;
  readonly file: SourceFile;
  readonly route: Located<string>;
  /** What it does: rank candidates, or score one entity. */
  readonly task: 'rank' | 'score';
  /** The entity type of what it ranks or scores. */
  readonly subject: Located<string>;
  readonly request: RequestDefinition;
  readonly limits: PipelineLimits;
  /** What becomes of a request if the store cannot be read: 503, or the candidates as they were sent. */
  readonly onStoreError: 'fail' | 'unranked';
  readonly features: readonly FeatureRequirement[];
  /** Name → expression text. */
  readonly define: ReadonlyMap<string, Located<string>>;
  readonly components: readonly StepDefinition[];
  /** Of a pipeline that scores: what is answered beside the score, name → expression text. */
  readonly answer: ReadonlyMap<string, Located<string>>;
  readonly page: { readonly size: number; readonly maxSize: number };
}

export interface RequestDefinition {
  /** Attributes that a candidate, or the scored entity, carries in the request and that are not of its entity type. */
  readonly candidates: ReadonlyMap<string, AttributeDefinition>;
  /** The other fields of the body, by name. */
  readonly fields: ReadonlyMap<string, RequestField>;
  /** What happens to fields that nothing declares: counted, or 422. */
  readonly unknown: 'ignore' | 'refuse';
  /** What happens to a candidate whose id came before: left out and counted, or 422. */
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
      readonly at: Span;
    };

export interface PipelineLimits {
  /** Most candidates in a request. */
  readonly candidates: number;
  /** Milliseconds from the first byte handled to the answer. */
  readonly time: number;
}

/** One line of `features:`: a view, one feature of it, or a view bound to paths. */
export interface FeatureRequirement {
  /** The name that expressions use before the colon: the view's, or the binding's. */
  readonly name: Located<string>;
  readonly view: Located<string>;
  /** Only this feature; undefined: those that are used. */
  readonly feature: Located<string> | undefined;
  /** Paths such as `product.brand`, one for each entity of the view; undefined: bound to root entities by type. */
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
  /** The YAML under `with:`, read against the plugin's options schema when the pipeline is compiled. */
  readonly with: Node | undefined;
  readonly at: Span;
}

/** All of a project's files, parsed. */
export interface ProjectConfig {
  /** Absolute path of the project's folder. */
  readonly root: string;
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly pipelines: readonly PipelineDefinition[];
}
