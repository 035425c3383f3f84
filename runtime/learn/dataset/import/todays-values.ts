import type { HydrationNode, Plan } from '../../../request/compile/plan.js';
import type { ForeignRanking } from '../../../project/foreign/foreign-event.js';

/** What an import knows as of the request. */
export interface KnownInTime {
  /** The entity types whose attributes the log tells with times. */
  readonly types: ReadonlySet<string>;
  /** The views whose rows the ledger has with times. */
  readonly views: ReadonlySet<string>;
}

/** By logged value: the attributes and features of today that it depends on. */
export type TodaysValues = Readonly<Record<string, readonly string[]>>;

/**
 * Finds the logged values that an import cannot know as of the request, because they depend on attributes of entities, or
 * on views, that have no history. What a ranking carries is as old as the request.
 */
export class TodaysInputs {
  readonly #plan: Plan;
  readonly #known: KnownInTime;
  /** By name of an attribute or of a feature of a view. */
  readonly #direct = new Map<string, readonly string[]>();
  /** By slot, because a definition that renames a value has its column. */
  readonly #bySlot = new Map<number, string>();
  readonly #found = new Map<string, TodaysValues>();

  constructor(plan: Plan, known: KnownInTime) {
    this.#plan = plan;
    this.#known = known;
    const byIds = new Map(plan.nodes.map((node) => [node.ids, node]));
    for (const node of plan.nodes)
      for (const { path, slot, indexed } of node.wants) {
        const name = [node.name, ...path].join('.');
        this.#add(name, slot, [...this.#wayTo(node), ...(indexed ? this.#attribute(node, name) : [])]);
      }
    for (const { features } of plan.levels)
      for (const { ids, wants, counters } of features)
        for (const { name, slot, feature } of wants) {
          const way = ids.flatMap((one) => this.#wayTo(byIds.get(one)));
          const isKnown = counters !== undefined || known.views.has(feature.view.name);
          this.#add(name, slot, isKnown ? way : [...way, name]);
        }
  }

  /** What the logged values of a ranking depend on. Equal answers are the same object. */
  of({ candidates, sent }: ForeignRanking): TodaysValues {
    const type = this.#plan.candidateType.name;
    const all = new Set([...this.#direct.values()].flat());
    const given = [...all].filter((name) => {
      const [root = '', ...rest] = name.split('.');
      if (rest.length !== 1) return false;
      if (root !== type) return Object.hasOwn(sent, name);
      return candidates.every(({ carried }) => (carried[rest[0] ?? ''] ?? null) !== null);
    });
    const key = given.join(' ');
    let found = this.#found.get(key);
    if (found === undefined) this.#found.set(key, (found = this.#valuesOf(new Set(given))));
    return found;
  }

  #add(name: string, slot: number, inputs: readonly string[]): void {
    this.#bySlot.set(slot, name);
    this.#direct.set(name, inputs);
  }

  /** The references that lead to an entity. */
  #wayTo(node: HydrationNode | undefined): readonly string[] {
    if (node?.parent === undefined) return [];
    const { node: from, path } = node.parent;
    return [...this.#wayTo(from), ...this.#attribute(from, [from.name, ...path].join('.'))];
  }

  #attribute({ entity }: HydrationNode, name: string): readonly string[] {
    return this.#known.types.has(entity.name) ? [] : [name];
  }

  #valuesOf(given: ReadonlySet<string>): TodaysValues {
    const values = this.#plan.log.values.map(({ name, slot }): [string, string[]] => {
      const inputs = new Set<string>();
      this.#collect(this.#bySlot.get(slot) ?? name, inputs, new Set());
      return [name, [...inputs].filter((one) => !given.has(one)).sort()];
    });
    return Object.fromEntries(values.filter(([, inputs]) => inputs.length > 0));
  }

  /** Adds what a name depends on: of a definition, an output of a step, or an expression in its options. */
  #collect(name: string, inputs: Set<string>, seen: Set<string>): void {
    if (seen.has(name)) return;
    seen.add(name);
    for (const one of this.#direct.get(name) ?? []) inputs.add(one);
    for (const one of this.#plan.open?.readsOfDefinitions.get(name) ?? []) this.#collect(one, inputs, seen);
    const as = name.slice(0, Math.max(0, name.indexOf(':')));
    for (const step of this.#plan.steps)
      if (step.as === as) for (const one of step.reads) this.#collect(one, inputs, seen);
  }
}
