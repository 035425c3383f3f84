import type { Pieces } from '../../../ground/core/pieces.js';
import { NodeRule, type TreeEnsemble } from '../../../ground/api/tree-ensemble.js';

/**
 * The distinct tests of an ensemble's nodes. A test is one bit for each row, "goes left". It is computed once for all
 * nodes and trees that use it, and has a slot of its own.
 */
export interface NodeTests {
  /** The number of tests. */
  readonly slots: number;
  /** The number of tests on sets of categories. They have the first slots. */
  readonly categorySlots: number;
  readonly numeric: readonly NumericTests[];
  readonly categorical: readonly CategoricalTests[];
  /** By tree, then node: the slot of its test. */
  readonly slotOf: readonly Int32Array[];
}

/**
 * The numeric tests of one feature with one missing rule. Their bits are nested: a value that passes a threshold
 * passes every higher one. Some nodes may send missing values left and others right, so a threshold can have two
 * slots.
 */
export interface NumericTests {
  readonly feature: number;
  /** One of `NodeRule.none`, `zero`, `nan`. */
  readonly missing: number;
  /** Distinct thresholds, ascending. */
  readonly thresholds: Float64Array;
  /** By threshold: the slot of the nodes that send missing values right, or `UNUSED`. Empty if no node does. */
  readonly right: Int32Array;
  /** The same for the nodes that send missing values left. */
  readonly left: Int32Array;
}

/** The slot number if no node has the test. */
export const UNUSED = -1;

/** The category sets of one feature. */
export interface CategoricalTests {
  readonly feature: number;
  /** The slots to set for each category. A category that is not here is in no set. */
  readonly slotsOf: ReadonlyMap<number, readonly number[]>;
  /** The slots to set for a missing value. */
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

export function* collectTests(ensemble: TreeEnsemble): Pieces<NodeTests> {
  const groups = new Map<number, NumericGroup>();
  const categorical = new Map<number, CategorySets>();
  const slotOf = ensemble.trees.map((tree) => new Int32Array(tree.feature.length));
  let slots = 0;
  for (const [index, tree] of ensemble.trees.entries()) {
    yield;
    for (let node = 0; node < tree.feature.length; node++) {
      const feature = tree.feature[node] ?? 0;
      const rule = tree.rule[node] ?? 0;
      const missing = rule & NodeRule.missing;
      // If NaN counts as 0, there is no default way.
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
  const categorySlots = slots;
  const numeric: NumericTests[] = [];
  for (const group of groups.values()) {
    yield;
    const tests = numericTests(group, slots, slotOf);
    numeric.push(tests);
    for (const side of [tests.right, tests.left])
      slots = side.reduce((end, slot) => Math.max(end, slot + 1), slots);
  }
  return { slots, categorySlots, numeric, categorical: [...categorical.values()], slotOf };
}

function numericTests(
  { feature, missing, uses }: NumericGroup,
  firstSlot: number,
  slotOf: readonly Int32Array[],
): NumericTests {
  const thresholds = Float64Array.from(new Set(uses.map(({ threshold }) => threshold))).sort();
  const positions = new Map(Array.from(thresholds, (threshold, position) => [threshold, position]));
  let free = firstSlot;
  const slotsOf = (side: readonly NumericUse[]): Int32Array => {
    if (side.length === 0) return new Int32Array(0);
    const slots = new Int32Array(thresholds.length).fill(UNUSED);
    for (const { threshold } of side) slots[positions.get(threshold) ?? 0] = 0;
    for (const [position, slot] of slots.entries()) if (slot !== UNUSED) slots[position] = free++;
    for (const { tree, node, threshold } of side)
      write(slotOf, tree, node, slots[positions.get(threshold) ?? 0] ?? 0);
    return slots;
  };
  const right = slotsOf(uses.filter(({ left }) => !left));
  const left = slotsOf(uses.filter((use) => use.left));
  return { feature, missing, thresholds, right, left };
}

function write(slotOf: readonly Int32Array[], tree: number, node: number, slot: number): void {
  const slots = slotOf[tree];
  if (slots !== undefined) slots[node] = slot;
}

export class CategorySets implements CategoricalTests {
  readonly slotsOf = new Map<number, number[]>();
  readonly missing: number[] = [];
  readonly #known = new Map<string, number>();

  constructor(readonly feature: number) {}

  /** The slot of a set: the slot of an equal set, or `free`. */
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
