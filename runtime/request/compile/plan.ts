import type { Word } from '../../project/config/model/yaml-keys.generated.js';
import type { ComparedId } from './meaning/compared-ids.js';
import type { Component } from '../../ground/api/component.js';
import type { ComponentKind } from '../../ground/api/plugin.js';
import type { RetrieverComponent } from '../../ground/api/retriever.js';
import type { ValueType } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { RulePlan, WiderPlan } from '../../state/curation/rule-plan.js';
import type { CountsReader } from '../../state/counters/counter-decoder.js';
import type { EntityDecoder } from '../../state/store/codec/entity-decoder.js';
import type { FeatureDecoder, WantedFeature } from '../../state/store/codec/feature-decoder.js';
import type { ColumnShape, FrameLayout, Scope } from '../../language/frame/frame-layout.js';
import type { TrackedFacet } from './tracked-facet.js';
import type { ExpressionType, Kernel } from '../../language/expression/environment.js';
import type { FramePool } from '../../language/frame/frame.js';

/** The immutable result of compiling a pipeline. Nothing is resolved, parsed or looked up by name after this. */
export interface Plan {
  readonly definition: PipelineDefinition;
  /** The type of the candidates. A pipeline that scores one entity has one candidate. */
  readonly candidateType: EntityType;
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly layout: FrameLayout;
  readonly frames: FramePool;
  /** Start of every store key. */
  readonly prefix: string;
  /** Every entity position of the request, parents before children; the candidates' comes first. */
  readonly nodes: readonly HydrationNode[];
  /** One entry for each store round trip, in order. */
  readonly levels: readonly ReadLevel[];
  /** In the order that they run. */
  readonly steps: readonly PlannedStep[];
  /** For a look into the index: it should hold them. */
  readonly comparedIds: readonly ComparedId[];
  /** The definitions that are used. A definition that only renames a value has the column of that value. */
  readonly definitions: readonly NamedColumn[];
  /** The attributes that the plan reads, each with its entity. */
  readonly attributes: readonly AttributeColumn[];
  /** Everything that the plan reads and computes, except the score, in the order that explanations show it. */
  readonly shown: Readonly<Record<Scope, readonly NamedColumn[]>>;
  /** The values under `answer:`, and the kernels that compute them after all steps. */
  readonly answer: {
    readonly values: readonly AnsweredValue[];
    /** The values that are not a definition under its own name. */
    readonly named: readonly NamedColumn[];
    readonly kernels: readonly Kernel[];
  };
  /** Undefined if every value is read and computed for all candidates. */
  readonly phases?: Phases | undefined;
  /** The values that a record of the ledger has; without `log:` what models and the score read. */
  readonly log: LoggedValues;
  /** Whether a step can bring candidates now: see `RuleComponent.brings`. Undefined if none ever does. */
  readonly brings?: () => boolean;
  /** Whether a step is an effect. */
  readonly hasEffects: boolean;
  /** Undefined if each request must send its candidates. */
  readonly retrieval?: Retrieval | undefined;
  /** Only in a plan for tuning, or if experiments change params. */
  readonly open?: OpenParams;
  /** What rules of curation can add; undefined if the pipeline applies no list. */
  readonly columns?: RulePlan | undefined;
  /** Undefined in a plan as it was compiled. */
  readonly wider?: WiderPlan;
}

/**
 * What is read and computed for all candidates, and what for the candidates of steps with `top:` alone, because nothing else
 * reads it. A request that shows all values does not use it.
 */
export interface Phases {
  /** The reads for all candidates. */
  readonly levels: readonly ReadLevel[];
  /** By the number of the step. */
  readonly steps: ReadonlyMap<number, PhasedStep>;
  /** The most candidates of a step with later values. */
  readonly top: number;
  /** Frames of few candidates, for what is later, and the columns of the request that they share with its frame. */
  readonly frames: FramePool;
  readonly shared: readonly number[];
}

/** One step of a plan with phases: its kernels for all candidates, and what it needs besides. */
export interface PhasedStep extends Pick<PlannedStep, 'prepare' | 'inputs'> {
  /** What is read and computed for the candidates of the step, in this order. */
  readonly later: readonly LaterValues[];
}

/** Values that the same steps need. */
export interface LaterValues {
  readonly levels: readonly ReadLevel[];
  readonly kernels: readonly Kernel[];
  /** The candidate-level columns that these read, and those that they write. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** By slot: 0 for the columns that they write. */
  readonly kept: Uint8Array;
}

/** The values that a record of a request has. */
export interface LoggedValues {
  readonly values: readonly NamedColumn[];
  /** The values that are left out because they are private. */
  readonly hidden: readonly string[];
  /** They compute the definitions that only the log names, after all steps. */
  readonly kernels: readonly Kernel[];
}

/** How the candidates of a request that sends none are found. */
export interface Retrieval {
  /** Like a pipeline whose steps are the retrievers: it reads what they read of the request, and has no candidates. */
  readonly plan: Plan;
  readonly retrievers: readonly PlannedRetriever[];
  readonly fuse: 'rrf' | 'first' | FuseExpression;
  /** The most candidates of the merged list. */
  readonly most: number;
}

export interface PlannedRetriever {
  readonly step: PlannedStep;
  readonly component: RetrieverComponent;
  readonly timeoutMs: number;
  /** By output, its column in the frame of the ranking. */
  readonly outputs: ReadonlyMap<string, number>;
}

/** An expression that orders what was found. It is computed in a frame of the retrieval's plan. */
export interface FuseExpression {
  readonly slot: number;
  readonly kernels: readonly Kernel[];
  readonly frames: FramePool;
  /** The columns of the request, which the frame takes from the one of the retrievers. */
  readonly shared: readonly number[];
  /** By slot: 1 for these columns. */
  readonly kept: Uint8Array;
}

/** What a plan knows about the params that can change. */
export interface OpenParams {
  /** The request-level column of each param that expressions read. */
  readonly slots: ReadonlyMap<string, number>;
  /** The value that a request writes to each slot. */
  readonly set: readonly { readonly slot: number; readonly value: number }[];
  /** Whether all params can change, apart from those that `fixed` names. */
  readonly isWhole: boolean;
  /** The params that `retrieve:` and `merge:` use: retrievers have one value of each. */
  readonly fixed: readonly string[];
  /** By definition: the params, definitions, attributes, features and outputs that it uses directly. */
  readonly readsOfDefinitions: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A value that events and explanations show under a name. */
export interface NamedColumn {
  readonly name: string;
  readonly slot: number;
}

/** An attribute of an entity, or a value that only the request carries. */
export interface AttributeColumn extends NamedColumn {
  /** Type of the entity. If a row holds values of several entities, the type of the entity that refers to them. */
  readonly type: string;
  /** Slot of the entity's ids. */
  readonly ids: number;
  readonly scope: Scope;
  /** Whether several rows may belong to the same entity. */
  readonly shared: boolean;
}

/** An expression under `answer:`. */
export interface AnsweredValue {
  readonly name: string;
  readonly slot: number;
  readonly type: ExpressionType;
  /** As written. */
  readonly text: string;
}

/** One batched read. */
export interface ReadLevel {
  readonly nodes: readonly HydrationNode[];
  readonly features: readonly FeatureRead[];
  readonly histories: readonly HistoryRead[];
}

/** A plan, and the plan of its retrievers if it has some. */
export function withRetrieval(plan: Plan): readonly Plan[] {
  return plan.retrieval === undefined ? [plan] : [plan, plan.retrieval.plan];
}

/** The reads for the steps, and those for the retrievers. */
export function allLevels(plan: Plan): readonly ReadLevel[] {
  return withRetrieval(plan).flatMap(({ levels }) => levels);
}

/** A place of the request with entities of one type: the candidates, the user, the brands of the candidates. */
export interface HydrationNode {
  readonly index: number;
  /** The path that expressions use, e.g. `product.brand`. */
  readonly name: string;
  readonly entity: EntityType;
  readonly scope: Scope;
  /** Its ids are known after this many round trips. */
  readonly level: number;
  /** Where the ids come from; undefined for entities that the body names. */
  readonly parent: { readonly node: HydrationNode; readonly path: readonly string[] } | undefined;
  /** Slot of the ids: a text column, or a texts column if the path goes through a list. */
  readonly ids: number;
  /** Whether an expression reads the id of an entity that the body names. */
  readonly isIdRead: boolean;
  /** Whether the path to it goes through a list, so that a row holds several entities. */
  readonly list: boolean;
  /** The attributes that the plan reads. */
  readonly wants: readonly WantedAttribute[];
  /** Whether one of `wants` is indexed. Otherwise the entities are not fetched. */
  readonly indexed: boolean;
  /** The frame's group of the indexed attributes' columns, in the decoder's order. */
  readonly group: number;
  readonly decoder: EntityDecoder;
  /** Start of the store keys of this type. */
  readonly keyPrefix: string;
  /** Whether all its keys differ from all other keys of the request, so that keys need not be compared. */
  readonly distinct: boolean;
}

export interface WantedAttribute {
  /** The attribute, then fields of inline records. */
  readonly path: readonly string[];
  /** Type of the last field. */
  readonly type: ValueType;
  /** Whether the path goes through a list inside the entity. */
  readonly list: boolean;
  /** False if only the request carries the attribute. */
  readonly indexed: boolean;
  /** `type.attribute`, for what counts its values. */
  readonly label: string;
  readonly slot: number;
  /** The column for the value of one entity. It differs from the column in `slot` if a row holds several entities. */
  readonly element: ColumnShape;
}

/** A read of feature records. One record holds all required views of one group and one binding. */
export interface FeatureRead {
  readonly name: string;
  readonly scope: Scope;
  readonly level: number;
  /** The id columns of the key's entities, in the views' order; empty for global views. */
  readonly ids: readonly number[];
  readonly types: readonly string[];
  readonly keyGroup: string;
  /** The `sourceKey` of views that are stored outside Millrace's store. */
  readonly source?: string;
  /** The frame's group of the columns, in the decoder's order. */
  readonly group: number;
  /** Whether all its keys differ from all other keys of the request, so that keys need not be compared. */
  readonly distinct: boolean;
  /** In the decoder's order, with full names. */
  readonly wants: readonly {
    readonly name: string;
    readonly slot: number;
    readonly feature: WantedFeature;
  }[];
  readonly decoder: FeatureDecoder;
  /** The decoder of counters, which have other records than views. */
  readonly counters?: CountsReader;
}

/** A read of the interactions of one entity of the request, which are one record. */
export interface HistoryRead {
  /** Position of the record in the frame's `histories`. */
  readonly index: number;
  /** The path of the entity, e.g. `user`. */
  readonly of: string;
  /** Its type. */
  readonly type: string;
  readonly level: number;
  /** Slot of its id. */
  readonly ids: number;
  /** Start of the store keys of this type's histories. */
  readonly keyPrefix: string;
  /** The facets that steps count. Feedback stores them. */
  readonly wants: readonly TrackedFacet[];
}

export interface PlannedStep {
  /** 1-based, as written. */
  readonly number: number;
  readonly use: string;
  readonly kind: ComponentKind;
  /** Whether the plugin ships with Millrace. Others get copies of what they read. */
  readonly isShipped: boolean;
  readonly as: string;
  readonly component: Component;
  /** Version of the model's file: `ProjectFile.version`. */
  readonly version?: string;
  readonly onError: Word<'pipeline.components.on_error'>;
  readonly top: number | undefined;
  /** Whether candidates that the step leaves without a score go below those that got one. */
  readonly unscoredLast: boolean;
  /** The condition of the step. */
  readonly when:
    { readonly slot: number; readonly text: string; readonly computes?: NamedColumn } | undefined;
  /** Kernels that run even if `when` leaves the step out: definitions that are first used here, and `when` itself. */
  readonly prepare: readonly Kernel[];
  /** Kernels that compute the expressions in the options and the names that the component needs. */
  readonly inputs: readonly Kernel[];
  /** Expressions in the options that compute a new value, named `<as>:with.<option>`. */
  readonly computes: readonly NamedColumn[];
  readonly outputs: ReadonlyMap<string, number>;
  /** What `getFeature` can read, by full name. */
  readonly needs: ReadonlyMap<string, NeededFeature>;
  /** Names that the step reads, for `millrace plan` and explanations. */
  readonly reads: readonly string[];
  /** The columns that its component may read; undefined: any. */
  readonly slots: readonly number[] | undefined;
  /** Whether it reads the interactions of an entity. */
  readonly readsInteractions: boolean;
  /** Only in a plan for tuning, and only if options name params. */
  readonly rebuild?: RebuildStep;
}

/** Creates the component of a step again, with other values of params in its options. It reads the same columns. */
export interface RebuildStep {
  /** The params that the options name. */
  readonly params: ReadonlySet<string>;
  /** @throws what the plugin throws, or Error if the options do not take the values */
  create(values: ReadonlyMap<string, number>): Promise<Component>;
}

export interface NeededFeature {
  readonly slot: number;
  readonly scope: Scope;
  /** Entity types and id columns of the feature's identifier. */
  readonly types: readonly string[];
  readonly ids: readonly number[];
}
