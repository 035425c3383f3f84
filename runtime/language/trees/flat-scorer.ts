import {
  NodeRule,
  ZERO,
  type DecisionTree,
  type FeatureColumn,
  type TreeEnsemble,
  type TreeScorer,
} from '../../ground/api/tree-ensemble.js';
import { CategorySets } from './columns/node-tests.js';
import { leafValue } from './interpreter.js';
import { instantiateWalk, LANES, NODE } from './wasm/walk.js';

const PAGE = 65_536;
const NONE: readonly number[] = [];

/** What the numeric nodes of a feature with one rule for missing values read: the key of the row's value, in a slot. */
interface Input {
  readonly feature: number;
  readonly rule: number;
  readonly slot: number;
}

/**
 * The scalar form: a WebAssembly function walks the trees of a row, several at a time and without branches. It supports
 * every ensemble, and is faster for a few rows. It compares keys: integers of 64 bits in the order of the numbers, with
 * room below and above them for missing values. A set of categories has a slot too. Its key says whether the row's
 * category is in the set.
 */
export class FlatScorer implements TreeScorer {
  readonly form = 'scalar';
  /** An estimate of the steps that a row takes: the mean depth of each tree's leaves, and what sets of categories cost. */
  readonly steps: number;
  readonly #ensemble: TreeEnsemble;
  readonly #inputs: readonly Input[];
  readonly #sets: readonly CategorySets[];
  /** By index in `#sets`: the slots of the sets that the last row was in. */
  readonly #in: (readonly number[])[];
  /** The memory of the function: keys by slot, then a list with a cell for each tree, then nodes. */
  readonly #ints: Int32Array;
  readonly #numbers: Float64Array;
  readonly #walk: (at: number, end: number) => void;
  /** The addresses of the roots, which the list has before a walk. Then it has those of the leaves. */
  readonly #roots: Int32Array;
  readonly #list: Int32Array;
  readonly #outputs: Int32Array;
  /** Undefined if no tree has linear leaves. */
  readonly #linear: readonly DecisionTree[] | undefined;
  readonly #row: Float64Array;
  readonly #sums: Float64Array;

  /** @param ensemble one that `checkEnsemble` accepted */
  constructor(ensemble: TreeEnsemble) {
    const { trees } = ensemble;
    this.#ensemble = ensemble;
    this.#outputs = Int32Array.from(trees, (tree) => tree.output);
    this.#linear = trees.some((tree) => tree.linear !== undefined) ? trees : undefined;
    this.#row = new Float64Array(ensemble.features);
    this.#sums = new Float64Array(ensemble.outputs);
    const { slots, slotsOf, inputs, sets } = takeSlots(trees);
    this.#inputs = inputs;
    this.#sets = sets;
    this.#in = sets.map(() => NONE);
    const cells = Math.ceil(trees.length / LANES) * LANES;
    let place = Math.ceil((slots * 8 + cells * 4) / NODE.bytes);
    const places = trees.reduce((sum, { feature }) => sum + 1 + 2 * feature.length, place + 1);
    const pages = Math.ceil((places * NODE.bytes) / PAGE);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.#walk = instantiateWalk(memory);
    this.#ints = new Int32Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
    this.#list = this.#ints.subarray(slots * 2, slots * 2 + cells);
    for (let slot = 0; slot < slots; slot++) this.#setSide(slot, false);
    // A leaf that fills up the last lanes.
    this.#setLeaf(place, 0);
    this.#roots = new Int32Array(cells).fill(place++ * NODE.bytes);
    let steps = 0;
    for (const [index, tree] of trees.entries()) {
      this.#roots[index] = place * NODE.bytes;
      const depth = this.#setTree(tree, place, slotsOf[index] ?? new Int32Array(0));
      place += tree.feature.length + tree.leaves.length;
      steps += depth;
    }
    for (const { slotsOf: lists } of sets) {
      // A row usually leaves the sets of the row before it, and enters others.
      for (const list of lists.values()) steps += (2 * list.length) / lists.size;
    }
    this.steps = steps;
  }

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    const [row, sums, numbers, list, roots] = [this.#row, this.#sums, this.#numbers, this.#list, this.#roots];
    const [treeOutputs, linear, base] = [this.#outputs, this.#linear, this.#ensemble.base];
    const single = this.#ensemble.precision === 'float32';
    for (const index of rows) {
      for (let feature = 0; feature < row.length; feature++) {
        const column = columns[feature];
        const value = column === undefined ? NaN : (column.values[index * column.stride] ?? NaN);
        row[feature] = single ? Math.fround(value) : value;
      }
      this.#setRow();
      for (let tree = 0; tree < roots.length; tree++) list[tree] = roots[tree] as number;
      this.#walk(list.byteOffset, list.byteOffset + list.byteLength);
      for (let to = 0; to < sums.length; to++) sums[to] = base[to] ?? NaN;
      let to = 0;
      // The sum of output `to` is a local, which is faster as long as the trees have the same output.
      let sum = sums[0] as number;
      for (let tree = 0; tree < treeOutputs.length; tree++) {
        if (treeOutputs[tree] !== to) {
          sums[to] = sum;
          to = treeOutputs[tree] as number;
          sum = sums[to] as number;
        }
        const leaf = numbers[(list[tree] as number) >>> 3] as number;
        sum += linear === undefined ? leaf : leafValue(linear[tree] as DecisionTree, leaf, row);
        if (single) sum = Math.fround(sum);
      }
      sums[to] = sum;
      for (let to = 0; to < sums.length; to++) {
        const output = outputs[to];
        if (output !== undefined) output[index] = sums[to] ?? NaN;
      }
    }
  }

  /** Writes the keys of the row's values. */
  #setRow(): void {
    const row = this.#row;
    for (const { feature, rule, slot } of this.#inputs) {
      const value = row[feature] as number;
      const missing = rule & NodeRule.missing;
      // Only NaN differs from itself.
      const isNaN = value !== value;
      if (isNaN ? missing !== NodeRule.none : missing === NodeRule.zero && Math.abs(value) <= ZERO)
        this.#setSide(slot, (rule & NodeRule.defaultLeft) !== 0);
      else this.#setKey(slot, isNaN ? 0 : value);
    }
    for (const [index, { feature, slotsOf, missing }] of this.#sets.entries()) {
      const value = row[feature] as number;
      const isNone = this.#ensemble.precision === 'float32' && value < 0;
      const slots = Number.isNaN(value) ? missing : isNone ? NONE : (slotsOf.get(Math.trunc(value)) ?? NONE);
      const before = this.#in[index] ?? NONE;
      if (slots === before) continue;
      for (const slot of before) this.#setSide(slot, false);
      for (const slot of slots) this.#setSide(slot, true);
      this.#in[index] = slots;
    }
  }

  /** Writes the key of a number to a slot, or to the address `8 · at`. */
  #setKey(at: number, value: number): void {
    const ints = this.#ints;
    // −0 becomes 0. The bits of negative numbers have the reverse order.
    this.#numbers[at] = value + 0;
    if (value < 0) {
      ints[2 * at] = ~(ints[2 * at] as number);
      ints[2 * at + 1] = (ints[2 * at + 1] as number) ^ 0x7fff_ffff;
    }
  }

  /** Writes the least or the greatest key to a slot. The nodes that read it lead to one side. */
  #setSide(slot: number, left: boolean): void {
    this.#ints[2 * slot] = left ? 0 : -1;
    this.#ints[2 * slot + 1] = left ? -0x8000_0000 : 0x7fff_ffff;
  }

  /**
   * Writes the nodes and leaves of a tree level by level.
   * @returns the mean depth of its leaves
   */
  #setTree(tree: DecisionTree, first: number, slots: Int32Array): number {
    const order = [tree.feature.length === 0 ? ~0 : 0];
    const depths = [0];
    let depthOfAll = 0;
    for (const [i, id] of order.entries()) {
      const place = first + i;
      const depth = depths[i] ?? 0;
      if (id < 0) {
        depthOfAll += depth;
        this.#setLeaf(place, tree.linear === undefined ? (tree.leaves[~id] ?? NaN) : ~id);
        continue;
      }
      const key = (place * NODE.bytes + NODE.key) / 8;
      this.#setKey(key, tree.threshold[id] ?? NaN);
      if (this.#ensemble.comparison === 'less') {
        // A key less than this one is at most the key before it.
        if (this.#ints[2 * key] === 0) this.#ints[2 * key + 1] = (this.#ints[2 * key + 1] ?? 0) - 1;
        this.#ints[2 * key] = (this.#ints[2 * key] ?? 0) - 1;
      }
      this.#setLink(place, (slots[id] ?? 0) * 8, first + order.length);
      order.push(tree.left[id] ?? ~0, tree.right[id] ?? ~0);
      depths.push(depth + 1, depth + 1);
    }
    return depthOfAll / tree.leaves.length;
  }

  /** A leaf leads to itself: slot 0 always leads to the right. */
  #setLeaf(place: number, value: number): void {
    this.#numbers[(place * NODE.bytes + NODE.key) / 8] = value;
    this.#setLink(place, 0, place - 1);
  }

  #setLink(place: number, input: number, children: number): void {
    this.#ints[(place * NODE.bytes + NODE.input) / 4] = input;
    this.#ints[(place * NODE.bytes + NODE.children) / 4] = children * NODE.bytes;
  }
}

/** Gives the nodes their slots: one for each feature and rule, and one for each set of categories. Slot 0 is of leaves. */
function takeSlots(trees: readonly DecisionTree[]): {
  readonly slots: number;
  /** By tree, then node. */
  readonly slotsOf: readonly Int32Array[];
  readonly inputs: readonly Input[];
  readonly sets: readonly CategorySets[];
} {
  const inputs = new Map<number, Input>();
  const sets = new Map<number, CategorySets>();
  let slots = 1;
  const slotOf = (feature: number, rule: number, set: Int32Array | undefined): number => {
    if (set !== undefined) {
      const all = sets.get(feature) ?? new CategorySets(feature);
      sets.set(feature, all);
      const slot = all.slot(set, (rule & NodeRule.defaultLeft) !== 0, slots);
      if (slot === slots) slots++;
      return slot;
    }
    const key = feature * 8 + rule;
    const input = inputs.get(key) ?? { feature, rule, slot: slots++ };
    inputs.set(key, input);
    return input.slot;
  };
  const slotsOf = trees.map(({ feature, rule, categories }) =>
    feature.map((one, node) => slotOf(one, rule[node] ?? 0, categories[node])),
  );
  return { slots, slotsOf, inputs: [...inputs.values()], sets: [...sets.values()] };
}
