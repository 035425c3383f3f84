import type { Pieces } from '../../../ground/core/pieces.js';
import type { DecisionTree, TreeEnsemble } from '../../../ground/api/tree-ensemble.js';
import { CATEGORIES, FIRST_PLANE, GROUP, LINEAR, SPARE, TERM, TREE, ZEROS } from '../simd/memory.js';
import type { PlaneProgram, ProgramTree } from './plane-program.js';
import type { LeafCodes } from './leaf-codes.js';
import { searchSteps, type MemoryMap } from './memory-map.js';
import { UNUSED, type CategoricalTests } from './node-tests.js';

/** The address of the list of each category of a feature. A category in no list has the empty list. */
export interface CategoryLists {
  readonly feature: number;
  readonly of: ReadonlyMap<number, number>;
  readonly missing: number;
}

/** Writes what does not change between runs. */
export class MemoryFiller {
  readonly #ints: Int32Array;
  readonly #numbers: Float64Array;
  readonly #singles: Float32Array;
  /** By feature: its index among the features of the program. */
  readonly #places: ReadonlyMap<number, number>;

  constructor(
    memory: WebAssembly.Memory,
    readonly ensemble: TreeEnsemble,
    readonly program: PlaneProgram,
    readonly map: MemoryMap,
  ) {
    this.#ints = new Int32Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
    this.#singles = new Float32Array(memory.buffer);
    this.#places = new Map(program.features.map((feature, place) => [feature, place]));
  }

  groups(): void {
    const { map, program } = this;
    for (const [index, group] of program.tests.numeric.entries()) {
      const at = map.groups.start + index * GROUP.bytes;
      const thresholds = map.thresholds[index] ?? 0;
      const place = this.#places.get(group.feature) ?? 0;
      const count = group.thresholds.length;
      const half = 2 ** (searchSteps(count) - 1);
      this.#numbers.set(group.thresholds, thresholds / 8);
      // NaN at the end: no value is beyond it.
      this.#numbers.fill(NaN, thresholds / 8 + count, thresholds / 8 + 2 * half);
      this.#int(at + GROUP.values, map.values[place] ?? 0);
      this.#int(at + GROUP.shared, map.shared + place * 4);
      this.#int(at + GROUP.thresholds, thresholds);
      this.#int(at + GROUP.half, half * 8);
      this.#int(at + GROUP.rule, group.missing);
      this.#int(at + GROUP.missing, (count + 1) * 8);
      this.#int(at + GROUP.count, count);
      let planes = map.planes[index] ?? 0;
      for (const [field, slots] of [
        [GROUP.right, group.right],
        [GROUP.left, group.left],
      ] as const) {
        this.#int(at + field, slots.length === 0 ? 0 : planes);
        for (const slot of slots) {
          this.#int(planes, slot === UNUSED ? SPARE : FIRST_PLANE + slot);
          planes += 4;
        }
      }
    }
  }

  categories(): CategoryLists[] {
    const { map, program } = this;
    let next = map.lists + 4;
    const list = (slots: readonly number[]): number => {
      const at = next;
      this.#int(at, slots.length);
      for (const [i, slot] of slots.entries()) this.#int(at + 4 * (i + 1), FIRST_PLANE + slot);
      next += 4 * (slots.length + 1);
      return at;
    };
    return program.tests.categorical.map(({ feature, slotsOf, missing }: CategoricalTests, index) => {
      this.#int(map.categories.start + index * CATEGORIES.bytes, map.rowLists[index] ?? 0);
      const of = new Map(Array.from(slotsOf, ([category, slots]) => [category, list(slots)]));
      return { feature, of, missing: list(missing) };
    });
  }

  *trees(): Pieces<void> {
    const { map, program } = this;
    let at = map.trees.start;
    for (const [index, tree] of this.ensemble.trees.entries()) {
      const compiled = program.trees[index];
      if (compiled === undefined) continue;
      yield;
      const { operations, code } = compiled;
      this.#int(at + TREE.operations, operations.length / 4);
      this.#int(at + TREE.leaves, map.leaves[index] ?? 0);
      this.#int(at + TREE.sums, map.sums[tree.output] ?? 0);
      this.#int(at + TREE.long, Number(code.length > 8));
      for (let bit = 0; bit < 16; bit++) this.#int(at + TREE.code + bit * 4, code[bit] ?? ZEROS);
      this.#ints.set(operations, (at + TREE.bytes) / 4);
      at += TREE.bytes + operations.length * 4;
      this.#leaves(tree, compiled, index);
    }
  }

  #leaves(tree: DecisionTree, { codes }: ProgramTree, index: number): void {
    const { leafKind } = this.program;
    const table = this.map.leaves[index] ?? 0;
    if (leafKind === 'linear') this.#linearLeaves(tree, codes, index);
    else
      for (const [leaf, value] of tree.leaves.entries()) {
        const [from, to] = codesOf(codes, leaf);
        if (leafKind === 'float64') this.#numbers.fill(value, table / 8 + from, table / 8 + to);
        else this.#singles.fill(value, table / 4 + from, table / 4 + to);
      }
  }

  #linearLeaves(tree: DecisionTree, codes: LeafCodes, index: number): void {
    const { map } = this;
    const table = map.leaves[index] ?? 0;
    let at = map.linear[index] ?? 0;
    // Codes of rows that do not exist may have any value.
    this.#ints.fill(at, table / 4, table / 4 + 2 ** codes.bits);
    for (const [leaf, value] of tree.leaves.entries()) {
      const linear = tree.linear?.[leaf];
      const [from, to] = codesOf(codes, leaf);
      this.#ints.fill(at, table / 4 + from, table / 4 + to);
      this.#int(at + LINEAR.terms, linear?.features.length ?? 0);
      this.#number(at + LINEAR.constant, linear?.constant ?? value);
      this.#number(at + LINEAR.value, value);
      at += LINEAR.bytes;
      for (const [i, feature] of (linear?.features ?? []).entries()) {
        this.#int(at + TERM.values, map.values[this.#places.get(feature) ?? 0] ?? 0);
        this.#number(at + TERM.coefficient, linear?.coefficients[i] ?? NaN);
        at += TERM.bytes;
      }
    }
  }

  #int(at: number, value: number): void {
    this.#ints[at / 4] = value;
  }

  #number(at: number, value: number): void {
    this.#numbers[at / 8] = value;
  }
}

/** The codes of a leaf: from the first up to, not including, the second. */
function codesOf({ codes, open }: LeafCodes, leaf: number): readonly [from: number, to: number] {
  const from = codes[leaf] ?? 0;
  return [from, from + 2 ** (open[leaf] ?? 0)];
}
