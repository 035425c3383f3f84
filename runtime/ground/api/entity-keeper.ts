/** What a component keeps in process of all entities of a type, such as an index of their words. */
import type { Column, ColumnKind } from './columns.js';
import type { Input } from './input.js';
import type { StepInput } from './step-input.js';

/** Work in pieces, divided at each yield. */
export type KeeperWork = Iterable<'own slice' | undefined>;

/** Hears about every entity of a type: those that are there, and each write by any process. */
export interface EntityKeeper {
  /** The number of entities that it keeps. */
  readonly size: number;
  /** Whether it keeps more than it may, however few entities these are of. */
  readonly isFull?: boolean;
  /** The ids of the entities that it keeps. */
  ids(): Iterable<string>;
  /**
   * Replaces what it keeps of an entity. It is also called for entities that have not changed.
   * @param columns the wanted attributes, with one row each; valid during the call
   * @returns work that is done in pieces before the next change, with pauses for other work; undefined if nothing is left to do
   */
  put(id: string, columns: readonly Column[]): KeeperWork | undefined;
  /** It may not keep the entity. */
  remove(id: string): void;
}

/** What a component wants to hear about the entities that the pipeline ranks; see `BuildContext.needEntities`. */
export interface EntitiesWanted<K extends EntityKeeper> {
  readonly attributes: readonly {
    /** A path from the entity, without following references: product.title. */
    readonly path: string;
    readonly kinds: readonly ColumnKind[];
    /** The option that names it, and whether as a key, as in OptionError. */
    readonly option: readonly (string | number)[];
    readonly part?: 'key';
    /** What its vectors are compared with: they must have the same size. */
    readonly like?: Input<'vector'>;
  }[];
  /** A condition on attributes of the entities and values of the request, for `KeptEntities.filter`. */
  readonly where?: { readonly text: string; readonly option: readonly (string | number)[] } | undefined;
  /** The most entities; of more, nothing is kept. */
  readonly most: number;
  /** What to do if there are more. */
  readonly remedy: string;
  /** Equal for keepers that keep the same of the same attributes: a reload goes on with the old one. */
  readonly key: string;
  open(): K;
}

/** By id, 1 if the condition holds, and 0 if not or if it is not known. It needs no store. Valid during the request. */
export type EntityFilter = (ids: readonly string[]) => Uint8Array;

/** The entities that a component keeps. */
export interface KeptEntities<K extends EntityKeeper> {
  /**
   * The keeper, which may change between two turns of the event loop.
   * @throws Error until all entities are read, or if there are too many of them
   */
  keeper(): K;
  /** Which writes the keeper may lack, for `Found.problem`; undefined unless a write is more than a second late, as while Redis is away. */
  lag(): string | undefined;
  /**
   * What `where` says for a request; undefined without `where`.
   * @throws Error as `keeper`
   */
  filter(input: Pick<StepInput, 'now' | 'column'>): EntityFilter | undefined;
}
