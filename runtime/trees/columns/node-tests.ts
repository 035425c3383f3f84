import { NodeRule, type TreeEnsemble } from '../../api/tree-ensemble.js';
import type { Turns } from '../turns.js';

/**
 * The distinct tests of an ensemble's nodes. Each is a bit per row, "goes left", computed once for all the nodes and
 * trees that ask it.
 */
export interface NodeTests {
  /** How many there are; sets of categories have the first ones. */
  readonly slots: number;
  readonly numeric: readonly NumericTests[];
  readonly categorical: readonly CategoricalTests[];
  /** By tree, then node: the slot of its test. */
  readonly slotOf: readonly Int32Array[];
}

/**
 * Numeric tests of one feature with one missing rule. Their bits are nested, since who passes a threshold passes every
 * higher one. Where missing values go left at some nodes and right at others, each threshold has a slot for either.
 */
export interface NumericTests {
  readonly feature: number;
  /** One of `NodeRule.none`, `zero`, `nan`. */
  readonly missing: number;
  /** The ways that missing values go. */
  readonly ways: 'left' | 'right' | 'both';
  /** Distinct, ascending. */
  readonly thresholds: Float64Array;
  /**
   * The k-th threshold has slot `firstSlot + k`; with both ways, the slots of the nodes that send missing values left
   * follow.
   */
  readonly firstSlot: number;
}

/** Category sets of one feature. */
export interface CategoricalTests {
  readonly feature: number;
  /** The slots to set for a category; one that is not here is in no set. */
  readonly slotsOf: ReadonlyMap<number, readonly number[]>;
  /** The slots to set where the value is missing. */
  readonly missing: readonly number[];
}

interface NumericUse {
  readonly tree: number;
  readonly node: number;
  readonly threshold: number;
  readonly left: boolean;
}

interface NumericGroup {
  readonly feature: number;
  readonly missing: number;
  readonly uses: NumericUse[];
}

export async function collectTests(ensemble: TreeEnsemble, turns: Turns): Promise<NodeTests> {
  const groups = new Map<number, NumericGroup>();
  const categorical = new Map<number, CategorySets>();
  const slotOf = ensemble.trees.map((tree) => new Int32Array(tree.feature.length));
  let slots = 0;
  for (const [index, tree] of ensemble.trees.entries()) {
    await turns.take();
    for (let node = 0; node < tree.feature.length; node++) {
      const feature = tree.feature[node] ?? 0;
      const rule = tree.rule[node] ?? 0;
      const missing = rule & NodeRule.missing;
      // Where NaN is taken as 0 there is no default way.
      const left = missing !== NodeRule.none && (rule & NodeRule.defaultLeft) !== 0;
      const set = tree.categories[node];
      if (set !== undefined) {
        const sets = categorical.get(feature) ?? new CategorySets(feature);
        categorical.set(feature, sets);
        const found = sets.slot(set, left, slots);
        if (found === slots) slots++;
        write(slotOf, index, node, found);
        continue;
      }
      const key = feature * 4 + missing;
      const group = groups.get(key) ?? { feature, missing, uses: [] };
      groups.set(key, group);
      group.uses.push({ tree: index, node, threshold: tree.threshold[node] ?? 0, left });
    }
  }
  const numeric: NumericTests[] = [];
  for (const group of groups.values()) {
    await turns.take();
    const tests = numericTests(group, slots, slotOf);
    numeric.push(tests);
    slots += (tests.ways === 'both' ? 2 : 1) * tests.thresholds.length;
  }
  return { slots, numeric, categorical: [...categorical.values()], slotOf };
}

function numericTests(
  { feature, missing, uses }: NumericGroup,
  firstSlot: number,
  slotOf: readonly Int32Array[],
): NumericTests {
  const thresholds = Float64Array.from(new Set(uses.map(({ threshold }) => threshold))).sort();
  const positions = new Map(Array.from(thresholds, (threshold, position) => [threshold, position]));
  const lefts = uses.filter(({ left }) => left).length;
  const ways = lefts === 0 ? 'right' : lefts === uses.length ? 'left' : 'both';
  for (const { tree, node, threshold, left } of uses) {
    const second = ways === 'both' && left ? thresholds.length : 0;
    write(slotOf, tree, node, firstSlot + second + (positions.get(threshold) ?? 0));
  }
  return { feature, missing, ways, thresholds, firstSlot };
}

function write(slotOf: readonly Int32Array[], tree: number, node: number, slot: number): void {
  const slots = slotOf[tree];
  if (slots !== undefined) slots[node] = slot;
}

class CategorySets implements CategoricalTests {
  readonly slotsOf = new Map<number, number[]>();
  readonly missing: number[] = [];
  readonly #known = new Map<string, number>();

  constructor(readonly feature: number) {}

  /** The slot of a set: that of an equal one, or `free`. */
  slot(set: Int32Array, missingLeft: boolean, free: number): number {
    const key = `${set.join()};${missingLeft}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, free);
    if (missingLeft) this.missing.push(free);
    for (const category of set) {
      const slots = this.slotsOf.get(category);
      if (slots === undefined) this.slotsOf.set(category, [free]);
      else slots.push(free);
    }
    return free;
  }
}
