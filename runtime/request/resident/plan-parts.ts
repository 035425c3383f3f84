import {
  withRetrieval,
  type FeatureRead,
  type HydrationNode,
  type Plan,
  type WantedAttribute,
} from '../compile/plan.js';
import type { ColumnShape } from '../../language/frame/frame-layout.js';
import { EntityDecoder } from '../../state/store/codec/entity-decoder.js';
import { FeatureDecoder, type WantedFeature } from '../../state/store/codec/feature-decoder.js';
import { COUNTER_GROUP, counterKey, ENTITY_GROUP, featureKey } from '../../state/store/keys.js';
import type { WantedCount } from '../../state/counters/counter-decoder.js';
import { definitionOf, leasedCountsOf, LeasedCounters } from './leased-counters.js';
import type { PartWants } from './table-part.js';

/** The attributes or features that plans want from one kind of key; each occurs once, in the order of its columns. */
class Wants<T> {
  readonly all: T[] = [];
  readonly shapes: ColumnShape[] = [];
  readonly definitions: string[] = [];
  readonly keyPrefix: string;
  readonly #numbers = new Map<string, number>();

  constructor(keyPrefix: string) {
    this.keyPrefix = keyPrefix;
  }

  /** The column's number. */
  add(name: string, want: T, shape: ColumnShape, definition: readonly unknown[]): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.all.length);
    this.all.push(want);
    this.shapes.push(shape);
    this.definitions.push(definitionText([...definition, { ...shape, scope: undefined }]));
    return this.all.length - 1;
  }
}

interface TypeWants {
  attributes: Wants<WantedAttribute> | undefined;
  readonly features: Map<string, Wants<WantedFeature>>;
  counts: Wants<WantedCount> | undefined;
}

/** The part and its columns that a node or feature read uses, in the order of the read's own columns. */
export interface TakenColumns {
  readonly type: string;
  /** `entity`, or the key group of feature views. */
  readonly group: string;
  readonly columns: readonly number[];
}

/** The columns that the tables of a process must hold: all columns that its plans read, by entity type. */
export class PlanParts {
  readonly #types = new Map<string, TypeWants>();
  readonly #counterLease: number;
  /** Without composite keys, global ones and views outside the store, which are never cached. */
  readonly taken = new Map<HydrationNode | FeatureRead, TakenColumns>();

  /** @param counterLease how long counters are kept, in milliseconds; 0: they are not */
  constructor(plans: readonly Plan[], counterLease: number) {
    this.#counterLease = counterLease;
    for (const plan of plans.flatMap(withRetrieval)) {
      for (const { nodes, features } of plan.levels) {
        for (const node of nodes) this.taken.set(node, this.#addNode(node));
        for (const read of features)
          if (read.types.length === 1 && read.source === undefined && read.counters === undefined)
            this.#addFeatures(read, plan);
          else if (counterLease > 0) this.#addCounts(read, plan);
      }
    }
  }

  get types(): Iterable<string> {
    return this.#types.keys();
  }

  partsOf(type: string): PartWants[] {
    const { attributes, features, counts } = this.#of(type);
    const parts: PartWants[] = [];
    if (attributes !== undefined) {
      const { keyPrefix, shapes, definitions, all } = attributes;
      parts.push({ group: ENTITY_GROUP, keyPrefix, shapes, definitions, decoder: new EntityDecoder(all) });
    }
    for (const [group, { keyPrefix, shapes, definitions, all }] of features)
      parts.push({ group, keyPrefix, shapes, definitions, decoder: new FeatureDecoder(all) });
    if (counts !== undefined) {
      const { keyPrefix, shapes, definitions, all } = counts;
      const decoder = new LeasedCounters(all, this.#counterLease);
      parts.push({ group: COUNTER_GROUP, keyPrefix, shapes, definitions, decoder });
    }
    return parts;
  }

  #of(type: string): TypeWants {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const wants: TypeWants = { attributes: undefined, features: new Map(), counts: undefined };
    this.#types.set(type, wants);
    return wants;
  }

  #addNode(node: HydrationNode): TakenColumns {
    const of = this.#of(node.entity.name);
    const wants = (of.attributes ??= new Wants(node.keyPrefix));
    const columns = node.wants
      .filter((want) => want.indexed)
      .map((want) => wants.add(want.path.join('.'), want, want.element, [want.path, want.type, want.list]));
    return { type: node.entity.name, group: ENTITY_GROUP, columns };
  }

  #addFeatures(read: FeatureRead, plan: Plan): void {
    const [type = ''] = read.types;
    const { features } = this.#of(type);
    const wants =
      features.get(read.keyGroup) ??
      new Wants<WantedFeature>(featureKey(plan.prefix, read.keyGroup, [type], []));
    features.set(read.keyGroup, wants);
    const columns = read.wants.map(({ slot, feature }) => {
      const shape = plan.layout.columns[slot]?.shape;
      if (shape === undefined) throw new Error('the feature has no column');
      const { view, feature: one } = feature;
      const definition = [view.name, view.ttl, view.expired, one.name, one.type, one.default];
      return wants.add(`${view.name}:${one.name}`, feature, shape, definition);
    });
    this.taken.set(read, { type, group: read.keyGroup, columns });
  }

  #addCounts(read: FeatureRead, plan: Plan): void {
    const counts = leasedCountsOf(read);
    if (counts === undefined) return;
    const [type = ''] = read.types;
    const of = this.#of(type);
    const wants = (of.counts ??= new Wants(counterKey(plan.prefix, [type], [])));
    const columns = counts.map((count, i) => {
      const shape = plan.layout.columns[read.wants[i]?.slot ?? -1]?.shape;
      if (shape === undefined) throw new Error('the feature has no column');
      return wants.add(`${count.counter.name}:${count.feature.name}`, count, shape, definitionOf(count));
    });
    this.taken.set(read, { type, group: COUNTER_GROUP, columns });
  }
}

/** A text that is equal for columns that decode the same record in the same way. */
function definitionText(definition: readonly unknown[]): string {
  return JSON.stringify(definition, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
}
