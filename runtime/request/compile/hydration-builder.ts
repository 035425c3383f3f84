import type { ValueType } from '../../ground/api/types.js';
import type { AttributeDefinition, EntityType } from '../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { FrameLayout, Scope } from '../../language/frame/frame-layout.js';
import { EntityDecoder } from '../../state/store/codec/entity-decoder.js';
import { entityKey } from '../../state/store/keys.js';
import type { NameProblem, Source } from '../../language/expression/environment.js';
import type { HydrationNode, WantedAttribute } from './plan.js';
import { noAttributes, notAValue, tooDeep, unknownAttribute, unknownEntity } from './path-problems.js';
import { columnShape, expressionType } from './value-types.js';

/** Most references that a path may follow. It bounds the round trips of a request. */
const MOST_HOPS = 8;

/** A path whose segments all exist. The plan reads nothing of it until `want`. */
export interface ResolvedPath {
  readonly root: NodeBuilder;
  /** The references that it follows, in order. */
  readonly hops: readonly Hop[];
  /** The attribute of the last entity, then fields of inline records; empty for the id of the entity. */
  readonly path: readonly string[];
  readonly type: ValueType;
  /** Whether `path` goes through a list of records. */
  readonly list: boolean;
}

/** A reference that a path follows. */
interface Hop {
  /** The attribute, then fields of inline records, that lead to the reference. */
  readonly path: readonly string[];
  /** Type of the reference: a ref, or a list of refs. */
  readonly type: ValueType;
  /** Whether `path` goes through a list of records. */
  readonly list: boolean;
  readonly entity: EntityType;
}

/** Whether a hop leads to several entities for one row. */
function isMany(hop: Hop): boolean {
  return hop.list || hop.type.kind === 'list';
}

/** A hydration node while the pipeline is compiled. */
export interface NodeBuilder {
  readonly name: string;
  readonly entity: EntityType;
  /** Attributes that only the request carries, beside the attributes of the entity type. */
  readonly carried: ReadonlyMap<string, AttributeDefinition>;
  readonly scope: Scope;
  readonly level: number;
  readonly list: boolean;
  readonly parent: { readonly node: NodeBuilder; readonly path: readonly string[] } | undefined;
  readonly ids: number;
  /** Whether a private reference leads to it. */
  readonly isPrivate: boolean;
  readonly wants: WantedAttribute[];
  /** Whether an expression reads the id itself. */
  isIdRead: boolean;
}

/** Where all paths start: the type of the candidates, and the other entities and values of a request. */
export interface HydrationRoots {
  readonly candidateType: { readonly value: string };
  readonly request: Pick<PipelineDefinition['request'], 'candidates' | 'fields'>;
}

const NO_ROOTS: HydrationRoots = {
  candidateType: { value: '' },
  request: { candidates: new Map(), fields: new Map() },
};

/** Collects the entities and attributes that a plan reads, from the paths that its expressions use. */
export class HydrationBuilder {
  readonly roots = new Map<string, NodeBuilder>();
  readonly #layout: FrameLayout;
  #entities: ReadonlyMap<string, EntityType>;
  readonly #nodes = new Map<string, NodeBuilder>();

  constructor(
    { request, candidateType }: HydrationRoots,
    entities: ReadonlyMap<string, EntityType>,
    layout: FrameLayout,
  ) {
    this.#layout = layout;
    this.#entities = entities;
    this.#addRoot(candidateType.value, candidateType.value, 'candidate', request.candidates);
    const scalars = new Map<string, AttributeDefinition>();
    for (const field of request.fields.values()) {
      if (field.kind === 'entity') this.#addRoot(field.name, field.entity, 'request', new Map());
      else scalars.set(field.name, field);
    }
    if (!this.roots.has('request')) this.#addRoot('request', 'request', 'request', scalars);
  }

  /**
   * A builder with the same reads, whose further reads do not change this one.
   * @param layout begins with the columns of this one's
   */
  copied(layout: FrameLayout): HydrationBuilder {
    const copy = new HydrationBuilder(NO_ROOTS, new Map(), layout);
    copy.#entities = this.#entities;
    for (const node of this.#nodes.values()) {
      const above = node.parent && copy.#nodes.get(node.parent.node.name);
      const parent = above && { node: above, path: node.parent.path };
      const own = { ...node, parent, wants: [...node.wants] };
      copy.#nodes.set(node.name, own);
      if (this.roots.get(node.name) === node) copy.roots.set(node.name, own);
    }
    return copy;
  }

  get candidates(): NodeBuilder {
    const first = [...this.#nodes.values()][0];
    if (first === undefined) throw new Error('a pipeline has candidates');
    return first;
  }

  #addRoot(
    name: string,
    type: string,
    scope: Scope,
    carried: ReadonlyMap<string, AttributeDefinition>,
  ): void {
    const entity = this.#entities.get(type);
    if (entity === undefined) return; // reported when the project was loaded
    const marks = { idsOf: entity.name };
    const ids = this.#layout.add({ kind: 'text', scope }, `${name}.${entity.key}`, marks);
    const node: NodeBuilder = {
      name,
      entity,
      carried,
      scope,
      level: 0,
      list: false,
      parent: undefined,
      ids,
      isPrivate: false,
      wants: [],
      isIdRead: false,
    };
    this.roots.set(name, node);
    this.#nodes.set(name, node);
  }

  /** Finds what the segments mean. It does not make the plan read anything. */
  resolve(segments: readonly string[]): ResolvedPath | NameProblem {
    const root = this.roots.get(segments[0] ?? '');
    if (root === undefined) return this.unknownRoot(segments[0] ?? '');
    let entity = root.entity;
    let fields: ReadonlyMap<string, ValueType> | undefined;
    let path: string[] = [];
    let list = false;
    let type: ValueType = { kind: 'ref', entity: entity.name };
    const hops: Hop[] = [];
    for (let i = 1; i < segments.length; i++) {
      const name = segments[i] ?? '';
      if (i > 1) {
        // The path goes on, so the value so far must have attributes.
        const inner = elementOf(type);
        if (inner.kind === 'ref' && path.length > 0) {
          const target = this.#entities.get(inner.entity);
          if (target === undefined) return unknownEntity(inner.entity, i);
          hops.push({ path, type, list, entity: target });
          if (hops.length > MOST_HOPS) return tooDeep(i, MOST_HOPS);
          entity = target;
          fields = undefined;
          path = [];
          list = false;
        } else if (inner.kind === 'record') {
          fields = inner.fields;
          list ||= type.kind === 'list';
        } else {
          return noAttributes(segments.slice(0, i).join('.'), type, i);
        }
      }
      if (fields === undefined && name === entity.key) {
        type = { kind: 'ref', entity: entity.name };
        if (i + 1 < segments.length)
          return noAttributes(segments.slice(0, i + 1).join('.'), { kind: 'string' }, i + 1);
        break;
      }
      const extra = hops.length === 0 && path.length === 0 ? root.carried : undefined;
      const found: ValueType | undefined =
        fields?.get(name) ??
        (fields === undefined ? (extra?.get(name) ?? entity.attributes.get(name))?.type : undefined);
      if (found === undefined) return unknownAttribute(segments, i, entity, fields, extra);
      path.push(name);
      type = found;
    }
    return { root, hops, path, type, list };
  }

  /** The path as a source of an expression. The plan reads it if `read` is true. */
  source(segments: readonly string[], read: boolean): Source | NameProblem {
    const resolved = this.resolve(segments);
    if ('problem' in resolved) return resolved;
    const type = expressionType(resolved.type, resolved.list || resolved.hops.some(isMany));
    if (type === undefined) return notAValue(segments, resolved.type);
    if (read && resolved.hops.length === 0 && resolved.path.length === 0) resolved.root.isIdRead = true;
    return { type, scope: resolved.root.scope, slot: read ? this.want(resolved).slot : 0 };
  }

  /** Whether a private attribute is on the way to the value. */
  isPrivate({ root, hops, path }: ResolvedPath): boolean {
    let at: Pick<NodeBuilder, 'entity' | 'carried'> = root;
    for (const hop of hops) {
      if (isMarked(at, hop.path)) return true;
      at = { entity: hop.entity, carried: new Map() };
    }
    return isMarked(at, path);
  }

  /** Makes the plan read the value of the path. The value is known after `known` round trips. */
  want(resolved: ResolvedPath): { readonly slot: number; readonly known: number; readonly list: boolean } {
    let node = resolved.root;
    for (const hop of resolved.hops) node = this.#child(node, hop);
    if (resolved.path.length === 0) return { slot: node.ids, known: node.level, list: node.list };
    const want = this.#wantAttribute(node, resolved.path, resolved.type, resolved.list);
    const known = node.level + (want.indexed ? 1 : 0);
    return { slot: want.slot, known, list: node.list || resolved.list || resolved.type.kind === 'list' };
  }

  #child(parent: NodeBuilder, hop: Hop): NodeBuilder {
    const name = `${parent.name}.${hop.path.join('.')}`;
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const want = this.#wantAttribute(parent, hop.path, hop.type, hop.list);
    const node: NodeBuilder = {
      name,
      entity: hop.entity,
      carried: new Map(),
      scope: parent.scope,
      level: parent.level + (want.indexed ? 1 : 0),
      list: parent.list || isMany(hop),
      parent: { node: parent, path: hop.path },
      ids: want.slot,
      isPrivate: this.#layout.columns[want.slot]?.isPrivate === true,
      wants: [],
      isIdRead: false,
    };
    this.#nodes.set(name, node);
    return node;
  }

  #wantAttribute(
    node: NodeBuilder,
    path: readonly string[],
    type: ValueType,
    list: boolean,
  ): WantedAttribute {
    const text = path.join('.');
    const known = node.wants.find((want) => want.path.join('.') === text);
    if (known !== undefined) return known;
    const shape = columnShape(type, node.list || list, node.scope);
    const element = columnShape(type, list, node.scope);
    if (shape === undefined || element === undefined)
      throw new Error(`no column can hold ${node.name}.${text}`);
    const inner = elementOf(type);
    const slot = this.#layout.add(shape, `${node.name}.${text}`, {
      isPrivate: node.isPrivate || isMarked(node, path),
      idsOf: inner.kind === 'ref' ? inner.entity : undefined,
    });
    const want: WantedAttribute = {
      path,
      type,
      list,
      slot,
      element,
      indexed: node.entity.attributes.has(path[0] ?? ''),
      label: `${node.entity.name}.${path.join('.')}`,
    };
    node.wants.push(want);
    return want;
  }

  /** The paths of all attributes of root entities, such as `product.price`. */
  attributeNames(): string[] {
    return [...this.roots].flatMap(([root, { entity, carried }]) =>
      [...new Set([...entity.attributes.keys(), ...carried.keys()])].map((name) => `${root}.${name}`),
    );
  }

  unknownRoot(name: string): NameProblem {
    return {
      problem: 'unknown_name',
      segment: 0,
      message: `nothing here is called \`${name}\``,
      help: didYouMean(name, this.roots.keys()) ?? `the request has ${[...this.roots.keys()].join(', ')}`,
    };
  }

  /** The finished nodes, parents before children. */
  build(prefix: string): HydrationNode[] {
    const built = new Map<NodeBuilder, HydrationNode>();
    for (const node of this.#nodes.values()) {
      const parent = node.parent === undefined ? undefined : built.get(node.parent.node);
      const indexed = node.wants.filter((want) => want.indexed);
      built.set(
        node,
        Object.freeze({
          index: built.size,
          name: node.name,
          entity: node.entity,
          scope: node.scope,
          level: node.level,
          parent:
            parent === undefined || node.parent === undefined
              ? undefined
              : { node: parent, path: node.parent.path },
          ids: node.ids,
          isIdRead: node.isIdRead,
          list: node.list,
          wants: Object.freeze([...node.wants]),
          indexed: indexed.length > 0,
          group: this.#layout.group(indexed.map((want) => want.slot)),
          decoder: new EntityDecoder(indexed),
          keyPrefix: entityKey(prefix, node.entity.name, ''),
          // The ids of the candidates are distinct. The ids of entities that other paths lead to may repeat.
          distinct:
            node === this.candidates &&
            [...this.#nodes.values()].every((other) => other === node || other.entity !== node.entity),
        }),
      );
    }
    return [...built.values()];
  }
}

/** The type of the elements of a list. Any other type is returned as it is. */
function elementOf(type: ValueType): ValueType {
  return type.kind === 'list' ? type.of : type;
}

/** Whether the attribute that the path begins with is private. */
function isMarked(
  { entity, carried }: Pick<NodeBuilder, 'entity' | 'carried'>,
  [name = '']: readonly string[],
): boolean {
  return (carried.get(name) ?? entity.attributes.get(name))?.isPrivate === true;
}
