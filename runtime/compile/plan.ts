import type { Component, ComponentKind } from '../api/plugin.js';
import type { ValueType } from '../api/types.js';
import type { EntityType, PipelineDefinition } from '../config/project/model.js';
import type { EntityDecoder } from '../store/codec/entity-decoder.js';
import type { FeatureDecoder, WantedFeature } from '../store/codec/feature-decoder.js';
import type { ColumnShape, FrameLayout, Scope } from '../frame/frame-layout.js';
import type { TrackedFacet } from './tracked-facet.js';
import type { ExpressionType, Kernel } from '../expression/environment.js';
import type { FramePool } from '../frame/pool.js';

/** The immutable result of compiling a pipeline. Nothing is resolved, parsed or looked up by name after this. */
export interface Plan {
  readonly definition: PipelineDefinition;
  /** Of what is ranked; where one entity is scored, it is the only candidate. */
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
  /** The named expressions that steps use; one that is only another name of a value has that value's column. */
  readonly definitions: readonly NamedColumn[];
  /** What the plan reads of entities and of the request, each with the entity that it is of. */
  readonly attributes: readonly AttributeColumn[];
  /** All that the plan reads and computes, in the order that explanations show it; the score is apart. */
  readonly shown: Readonly<Record<Scope, readonly NamedColumn[]>>;
  /** What a pipeline that scores answers beside the score, and the kernels that compute it once the steps have run. */
  readonly answer: {
    readonly values: readonly AnsweredValue[];
    /** Those that are not a definition under its own name. */
    readonly named: readonly NamedColumn[];
    readonly kernels: readonly Kernel[];
  };
}

/** A value that events and explanations tell, by its name. */
export interface NamedColumn {
  readonly name: string;
  readonly slot: number;
}

/** An attribute of an entity, or a value that only the request carries. */
export interface AttributeColumn extends NamedColumn {
  /** Type of the entity. Where a row holds the values of several, that of the entity which names them. */
  readonly type: string;
  /** Column of the entity's ids. */
  readonly ids: number;
  readonly scope: Scope;
  /** Whether rows may be of one entity. */
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

/** What one batched read brings. */
export interface ReadLevel {
  readonly nodes: readonly HydrationNode[];
  readonly features: readonly FeatureRead[];
  readonly histories: readonly HistoryRead[];
}

/** A place in the request that holds entities of one type: the candidates, the user, the candidates' brands … */
export interface HydrationNode {
  readonly index: number;
  /** The path that expressions use, e.g. `product.brand`. */
  readonly name: string;
  readonly entity: EntityType;
  readonly scope: Scope;
  /** Its ids are known once this many round trips are done. */
  readonly level: number;
  /** Where the ids come from; undefined for the entities that the body names itself. */
  readonly parent: { readonly node: HydrationNode; readonly path: readonly string[] } | undefined;
  /** Column of the ids: text, or texts where the path goes through a list. */
  readonly ids: number;
  /** Of an entity that the body names: whether an expression reads its id. */
  readonly isIdRead: boolean;
  /** Whether the path to it goes through a list, so that a row holds several. */
  readonly list: boolean;
  /** The attributes that the plan reads. */
  readonly wants: readonly WantedAttribute[];
  /** Whether any of them is indexed: an entity of which nothing is read is not fetched. */
  readonly indexed: boolean;
  /** The frame's group of the indexed attributes' columns, in the decoder's order. */
  readonly group: number;
  readonly decoder: EntityDecoder;
  /** Start of the store keys of this type. */
  readonly keyPrefix: string;
  /** Whether no other read of the plan can want the same key, so that keys need not be compared. */
  readonly distinct: boolean;
}

export interface WantedAttribute {
  /** The attribute, then fields of inline records. */
  readonly path: readonly string[];
  /** Of the leaf. */
  readonly type: ValueType;
  /** Whether the path goes through a list inside the entity. */
  readonly list: boolean;
  /** False for what only the request carries. */
  readonly indexed: boolean;
  /** `type.attribute`, for what counts its values. */
  readonly label: string;
  readonly slot: number;
  /** The column that one entity's value needs; differs from the slot's where a row holds several entities. */
  readonly element: ColumnShape;
}

/** One record per key: all required views of one group and one binding. */
export interface FeatureRead {
  readonly name: string;
  readonly scope: Scope;
  readonly level: number;
  /** The id columns of the key's entities, in the views' order; empty for global views. */
  readonly ids: readonly number[];
  readonly types: readonly string[];
  readonly keyGroup: string;
  /** Of views that are kept outside the store: their `sourceKey`. */
  readonly source?: string;
  /** The frame's group of the columns, in the decoder's order. */
  readonly group: number;
  /** Whether no other read of the plan can want the same key, so that keys need not be compared. */
  readonly distinct: boolean;
  /** In the decoder's order, with full names. */
  readonly wants: readonly {
    readonly name: string;
    readonly slot: number;
    readonly feature: WantedFeature;
  }[];
  readonly decoder: FeatureDecoder;
}

/** The interactions of one entity of the request: one record. */
export interface HistoryRead {
  /** Under which a frame has the record. */
  readonly index: number;
  /** The path of the entity, e.g. `user`. */
  readonly of: string;
  /** Its type. */
  readonly type: string;
  readonly level: number;
  /** Column of its id. */
  readonly ids: number;
  /** Start of the store keys of this type's histories. */
  readonly keyPrefix: string;
  /** What steps count, for feedback to keep. */
  readonly wants: readonly TrackedFacet[];
}

export interface PlannedStep {
  /** 1-based, as written. */
  readonly number: number;
  readonly use: string;
  readonly kind: ComponentKind;
  readonly as: string;
  readonly component: Component;
  /** Of the file that a model scores by: `ProjectFile.version`. */
  readonly version?: string;
  readonly onError: 'fail' | 'skip';
  readonly top: number | undefined;
  /** Column of the condition of the request. */
  readonly when:
    { readonly slot: number; readonly text: string; readonly computes?: NamedColumn } | undefined;
  /** Definitions that are first needed here; they run whether or not the step does. */
  readonly prepare: readonly Kernel[];
  /** What the step's options compute. */
  readonly inputs: readonly Kernel[];
  /** The expressions in its options that compute a value of their own: `<as>:with.<option>`. */
  readonly computes: readonly NamedColumn[];
  readonly outputs: ReadonlyMap<string, number>;
  /** What `getFeature` may ask for, by full name. */
  readonly needs: ReadonlyMap<string, NeededFeature>;
  /** Names that it reads, for `millrace plan` and explain. */
  readonly reads: readonly string[];
}

export interface NeededFeature {
  readonly slot: number;
  readonly scope: Scope;
  /** Types and id columns of the identifier that the feature is of. */
  readonly types: readonly string[];
  readonly ids: readonly number[];
}
