import type { Word } from './yaml-keys.generated.js';
import type { ValueType } from '../../../ground/api/types.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { AttributeDefinition } from './entities.js';
import type { Node } from 'yaml';

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
  readonly onStoreError: Word<'pipeline.on_store_error'>;
  readonly features: readonly FeatureRequirement[];
  readonly params: ReadonlyMap<string, ParamDefinition>;
  /** Name → text of the expression. */
  readonly define: ReadonlyMap<string, Located<string>>;
  /** How the candidates of a request that sends none are found; undefined if each request must send them. */
  readonly retrieve: RetrieveDefinition | undefined;
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

export interface RequestDefinition {
  /**
   * Attributes that a candidate, or the scored entity, carries in the request and that its entity type does not
   * declare.
   */
  readonly candidates: ReadonlyMap<string, AttributeDefinition>;
  /** The other fields of the body, by name. */
  readonly fields: ReadonlyMap<string, RequestField>;
  /** What to do with fields that nothing declares: count them, or answer 422. */
  readonly unknown: Word<'pipeline.request.unknown'>;
  /** What to do with a candidate whose id appeared earlier: leave it out and count it, or answer 422. */
  readonly duplicates: Word<'pipeline.request.duplicates'>;
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

/** A named number under `params:`. Expressions and options of type number use it by name. */
export interface ParamDefinition {
  readonly name: string;
  readonly value: number;
  /** The values that tuning may give it. Undefined: tuning leaves it as it is. */
  readonly range: { readonly min: number; readonly max: number } | undefined;
  /** The place of its name. */
  readonly at: Span;
}

/** One step of `components:`. */
export interface StepDefinition {
  readonly use: Located<string>;
  readonly as: Located<string> | undefined;
  readonly when: Located<string> | undefined;
  readonly top: Located<number> | undefined;
  readonly onError: Word<'pipeline.components.on_error'>;
  /** Where a step that sets the score puts the candidates that it leaves without one; undefined: they keep their score. */
  readonly unscored: Located<Word<'pipeline.components.unscored'>> | undefined;
  /** The YAML under `with:`. It is checked against the plugin's options schema when the pipeline is compiled. */
  readonly with: Node | undefined;
  readonly at: Span;
}

/** One entry of `retrieve:`. It has the options of a step that make sense before there are candidates. */
export interface RetrieverDefinition extends StepDefinition {
  readonly timeoutMs: number;
}

/** `retrieve:` and `merge:` of a pipeline. */
export interface RetrieveDefinition {
  readonly retrievers: readonly RetrieverDefinition[];
  /** `rrf`, `first`, or the text of an expression. */
  readonly fuse: Located<string>;
  /** The most candidates of the merged list. */
  readonly most: number;
}

/** `log:` of a pipeline. */
export interface LogDefinition {
  /** From 0 to 1: the share of the units whose requests are logged. */
  readonly share: number;
  /** The field of the request whose entity is the unit, or `request`: every request is a unit. */
  readonly unit: string;
  /** The candidates to log. */
  readonly candidates: Word<'pipeline.log.candidates'>;
  /** How many candidates are logged besides the page. */
  readonly sample: number;
  /** `models`, `all`, or a list of names; a list may have `models`, too. The names are not resolved yet. */
  readonly features: Word<'pipeline.log.features'> | readonly Located<string>[];
  /** The entity types whose ids are replaced by hashes. */
  readonly hash: ReadonlyMap<string, Span>;
  /** The place of `log`. */
  readonly at: Span;
}
