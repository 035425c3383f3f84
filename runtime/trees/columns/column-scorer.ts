import type { FeatureColumn, TreeEnsemble, TreeScorer } from '../../api/tree-ensemble.js';
import { Turns } from '../turns.js';
import { encodeModule, FunctionWriter, OP } from '../wasm/encoder.js';
import { writeBinFunction } from './bin-function.js';
import { BLOCK, layOut, type ProgramLayout } from './layout.js';
import { leafCodes, type LeafCodes } from './leaf-codes.js';
import { collectTests, type CategoricalTests, type NodeTests } from './node-tests.js';
import { writeTreeFunction } from './tree-function.js';

/** More nodes than this are left to the scalar form: the program would take long to compile. */
const MOST_NODES = 400_000;

/** The functions of a column program. */
interface Program {
  /** Computes the bits of all numeric tests for so many rows of a block, at its offsets of values and bits. */
  readonly test: (rows: number, values: number, masks: number) => void;
  /** Adds all trees to the sums of so many groups of 16 rows, from the first block on. */
  readonly add: (groups: number) => void;
}

/**
 * The column form: a program in WebAssembly SIMD, made for one ensemble. It takes blocks of 128 rows: first every
 * distinct test as a bit per row, then every tree with plain bit operations on those, so that one instruction does a
 * node's work for all of them. Leaves are added in the order of the trees, in the ensemble's precision.
 */
export class ColumnScorer implements TreeScorer {
  readonly form = 'columns';
  readonly #ensemble: TreeEnsemble;
  readonly #program: Program;
  readonly #layout: ProgramLayout;
  readonly #categorical: readonly CategoricalTests[];
  readonly #bytes: Uint8Array;
  readonly #numbers: Float64Array;
  /** The same memory in the ensemble's precision. */
  readonly #sums: Float64Array | Float32Array;

  private constructor(
    ensemble: TreeEnsemble,
    layout: ProgramLayout,
    tests: NodeTests,
    program: Program,
    memory: WebAssembly.Memory,
  ) {
    this.#ensemble = ensemble;
    this.#layout = layout;
    this.#program = program;
    this.#categorical = tests.categorical;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
    this.#sums = layout.width === 8 ? this.#numbers : new Float32Array(memory.buffer);
  }

  /**
   * @param ensemble one that `checkEnsemble` has passed
   * @returns undefined where the ensemble needs the scalar form: linear leaves, a tree of thousands of leaves, or more
   *   nodes than a program should have
   */
  static async compile(ensemble: TreeEnsemble): Promise<ColumnScorer | undefined> {
    const { trees } = ensemble;
    const nodes = trees.reduce((sum, tree) => sum + tree.feature.length, 0);
    if (nodes > MOST_NODES || trees.length === 0 || trees.some((tree) => tree.linear !== undefined)) {
      return undefined;
    }
    const codes = trees.map(leafCodes);
    if (!codes.every((one) => one !== undefined)) return undefined;
    const turns = new Turns();
    await turns.take();
    const tests = collectTests(ensemble);
    const layout = layOut(ensemble, tests, codes);
    const memory = new WebAssembly.Memory({ initial: layout.pages, maximum: layout.pages });
    fillTables(memory, ensemble, tests, codes, layout);
    const module = await WebAssembly.compile(await writeProgram(ensemble, tests, codes, layout, turns));
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
    return new ColumnScorer(ensemble, layout, tests, exports as unknown as Program, memory);
  }

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    const most = this.#layout.blocks * BLOCK;
    for (let from = 0; from < rows.length; from += most) {
      const count = Math.min(most, rows.length - from);
      for (let block = 0; block * BLOCK < count; block++) {
        const first = from + block * BLOCK;
        this.#test(rows, first, Math.min(BLOCK, rows.length - first), block, columns);
      }
      this.#startSums(count);
      this.#program.add((count + 15) >> 4);
      this.#writeSums(rows, from, count, outputs);
    }
  }

  /** The bits of all tests for one block. */
  #test(
    rows: Int32Array,
    from: number,
    count: number,
    block: number,
    columns: readonly (FeatureColumn | undefined)[],
  ): void {
    const { valueBytes, maskBytes } = this.#layout;
    this.#gather(rows, from, count, block, columns);
    this.#program.test(count, block * valueBytes, block * maskBytes);
    for (const tests of this.#categorical) this.#testCategories(tests, count, block);
  }

  #gather(
    rows: Int32Array,
    from: number,
    count: number,
    block: number,
    columns: readonly (FeatureColumn | undefined)[],
  ): void {
    const { features, shared, values, valueBytes } = this.#layout;
    const numbers = this.#numbers;
    for (let i = 0; i < features.length; i++) {
      const column = columns[features[i] ?? 0];
      const at = (values + block * valueBytes) / 8 + i * BLOCK;
      const isShared = column?.stride !== 1;
      this.#bytes.fill(isShared ? 0xff : 0, shared + i * 16, shared + i * 16 + 16);
      // Categories are looked up row by row.
      if (isShared) numbers.fill(column?.values[0] ?? NaN, at, at + count);
      else {
        const source = column.values;
        for (let row = 0; row < count; row++) numbers[at + row] = source[rows[from + row] ?? 0] ?? NaN;
      }
    }
  }

  #startSums(count: number): void {
    const { sums, width } = this.#layout;
    for (let output = 0; output < sums.length; output++) {
      const at = (sums[output] ?? 0) / width;
      this.#sums.fill(this.#ensemble.base[output] ?? 0, at, at + count);
    }
  }

  #testCategories({ feature, slotsOf, missing }: CategoricalTests, count: number, block: number): void {
    const { features, values, valueBytes, masks, maskBytes } = this.#layout;
    const at = (values + block * valueBytes) / 8 + features.indexOf(feature) * BLOCK;
    const single = this.#layout.width === 4;
    const bytes = this.#bytes;
    for (let row = 0; row < count; row++) {
      let value = this.#numbers[at + row] ?? NaN;
      if (single) value = Math.fround(value);
      const slots = Number.isNaN(value)
        ? missing
        : single && value < 0
          ? undefined
          : slotsOf.get(Math.trunc(value));
      if (slots === undefined) continue;
      const bit = 1 << (row >> 4);
      const lane = masks + block * maskBytes + (row & 15);
      for (let i = 0; i < slots.length; i++) {
        const byte = lane + (slots[i] ?? 0) * 16;
        bytes[byte] = (bytes[byte] ?? 0) | bit;
      }
    }
  }

  #writeSums(rows: Int32Array, from: number, count: number, outputs: readonly Float64Array[]): void {
    const { sums, width } = this.#layout;
    for (let output = 0; output < sums.length; output++) {
      const to = outputs[output];
      const at = (sums[output] ?? 0) / width;
      if (to === undefined) continue;
      for (let row = 0; row < count; row++) to[rows[from + row] ?? 0] = this.#sums[at + row] ?? NaN;
    }
  }
}

/** Thresholds and leaves do not change, so they are written once. */
function fillTables(
  memory: WebAssembly.Memory,
  { trees }: TreeEnsemble,
  tests: NodeTests,
  codes: readonly LeafCodes[],
  layout: ProgramLayout,
): void {
  const numbers = new Float64Array(memory.buffer);
  const tables = layout.width === 8 ? numbers : new Float32Array(memory.buffer);
  for (const [index, { thresholds }] of tests.numeric.entries()) {
    const at = (layout.thresholds[index] ?? 0) / 8;
    numbers.set(thresholds, at);
    // Nothing is beyond NaN.
    const end = (layout.thresholds[index + 1] ?? layout.leaves[0] ?? 0) / 8;
    numbers.fill(NaN, at + thresholds.length, end);
  }
  for (const [index, tree] of trees.entries()) {
    const at = (layout.leaves[index] ?? 0) / layout.width;
    for (const [leaf, value] of tree.leaves.entries()) tables[at + (codes[index]?.codes[leaf] ?? 0)] = value;
  }
}

async function writeProgram(
  ensemble: TreeEnsemble,
  tests: NodeTests,
  codes: readonly LeafCodes[],
  layout: ProgramLayout,
  turns: Turns,
): Promise<Uint8Array<ArrayBuffer>> {
  const bins = tests.numeric.map((group, index) =>
    writeBinFunction(group, layout.thresholds[index] ?? 0, layout, ensemble),
  );
  const trees: FunctionWriter[] = [];
  for (const [index, tree] of ensemble.trees.entries()) {
    await turns.take();
    const slots = tests.slotOf[index] ?? new Int32Array(0);
    const leaves = codes[index] ?? { bits: 0, codes: new Int32Array(1) };
    trees.push(writeTreeFunction(tree, index, slots, leaves, layout));
  }
  await turns.take();
  const test = new FunctionWriter(3);
  // Numeric slots are written whole; those of categories, which come first, have bits added one by one.
  const categoryBytes = 16 * (tests.numeric[0]?.firstSlot ?? tests.slots);
  if (categoryBytes > 0) test.get(2).i32(layout.masks).op(OP.i32Add).i32(0).i32(categoryBytes).fill();
  for (const index of bins.keys()) test.get(0).get(1).get(2).call(index);
  const add = new FunctionWriter(1);
  for (const index of trees.keys()) add.get(0).call(bins.length + index);
  const all = [...bins, ...trees, test, add];
  return encodeModule(all, { test: all.length - 2, add: all.length - 1 });
}
