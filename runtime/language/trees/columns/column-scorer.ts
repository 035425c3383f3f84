import { inTurns } from '../../../ground/core/pieces.js';
import type { FeatureColumn, TreeEnsemble, TreeScorer } from '../../../ground/api/tree-ensemble.js';
import { instantiateSimd, type SimdModule, type PlaneFunctions } from '../simd/simd-module.js';
import { BLOCK, WIDTHS } from '../simd/memory.js';
import { planeProgram, type PlaneProgram } from './plane-program.js';
import { MemoryFiller, type CategoryLists } from './fill-memory.js';
import { mapMemory, type MemoryMap } from './memory-map.js';

type Columns = readonly (FeatureColumn | undefined)[];

/** Consecutive rows that are scored at a time. */
interface Block {
  readonly rows: Int32Array;
  readonly from: number;
  readonly count: number;
}

/**
 * The column form: a program of bit operations on planes. A plane has one bit for each row of a run, and WebAssembly
 * SIMD instructions work on 128 rows at a time. First every distinct test becomes a plane. Then operations select
 * between planes, tree by tree. Leaves are added in the order of the trees, in the precision of the ensemble.
 */
export class ColumnScorer implements TreeScorer {
  readonly form = 'columns';
  /** The operations on planes for up to 128 rows. */
  readonly operations: number;
  readonly #ensemble: TreeEnsemble;
  readonly #features: readonly number[];
  readonly #map: MemoryMap;
  readonly #categories: readonly CategoryLists[];
  readonly #categoryPlanes: number;
  readonly #simd: SimdModule;
  readonly #ints: Int32Array;
  readonly #numbers: Float64Array;
  /** A view of the same memory in the precision of the sums. */
  readonly #sums: Float64Array | Float32Array;

  private constructor(
    ensemble: TreeEnsemble,
    { features, tests, trees, leafKind }: PlaneProgram,
    map: MemoryMap,
    categories: readonly CategoryLists[],
    simd: SimdModule,
    memory: WebAssembly.Memory,
  ) {
    this.operations = trees.reduce((sum, tree) => sum + tree.operations.length / 4, tests.slots);
    this.#ensemble = ensemble;
    this.#features = features;
    this.#map = map;
    this.#categories = categories;
    this.#categoryPlanes = tests.categorySlots;
    this.#simd = simd;
    this.#ints = new Int32Array(memory.buffer);
    this.#numbers = new Float64Array(memory.buffer);
    this.#sums = leafKind === 'float32' ? new Float32Array(memory.buffer) : this.#numbers;
  }

  /**
   * @param ensemble one that `checkEnsemble` accepted
   * @returns undefined if the ensemble needs the scalar form: it has a tree with thousands of leaves, or too many
   * nodes
   */
  static async compile(ensemble: TreeEnsemble): Promise<ColumnScorer | undefined> {
    const program = await inTurns(planeProgram(ensemble));
    if (program === undefined) return undefined;
    const map = mapMemory(ensemble, program);
    const memory = new WebAssembly.Memory({ initial: map.pages, maximum: map.pages });
    const simd = await instantiateSimd(memory, program.leafKind, ensemble.comparison);
    const filler = new MemoryFiller(memory, ensemble, program, map);
    filler.groups();
    await inTurns(filler.trees());
    return new ColumnScorer(ensemble, program, map, filler.categories(), simd, memory);
  }

  score(rows: Int32Array, columns: Columns, outputs: readonly Float64Array[]): void {
    const { width, groups, categories, first, trees } = this.#map;
    for (let from = 0; from < rows.length; from += width * BLOCK) {
      const count = Math.min(width * BLOCK, rows.length - from);
      const functions = this.#functionsFor(count);
      this.#gather({ rows, from, count }, columns);
      if (groups.start < groups.end) functions.values(groups.start, groups.end, count, first);
      if (categories.start < categories.end) {
        this.#gatherCategories(rows, from, count, columns);
        functions.categories(categories.start, categories.end, count, this.#categoryPlanes);
      }
      this.#startSums(count);
      functions.add(trees.start, trees.end, (count + 15) >> 4);
      this.#writeSums(rows, from, count, outputs);
    }
  }

  #functionsFor(count: number): PlaneFunctions {
    const functions = this.#simd.get(WIDTHS.find((width) => width * BLOCK >= count) ?? 8);
    if (functions === undefined) throw new Error('the module has no such width');
    return functions;
  }

  #gather(block: Block, columns: Columns): void {
    const { count } = block;
    const { shared, values } = this.#map;
    const single = this.#ensemble.precision === 'float32';
    for (let place = 0; place < values.length; place++) {
      const column = columns[this.#features[place] ?? 0];
      const at = (values[place] ?? 0) / 8;
      const isShared = column?.stride !== 1;
      this.#ints[shared / 4 + place] = Number(isShared);
      if (isShared) {
        const value = column?.values[0] ?? NaN;
        this.#numbers.fill(single ? Math.fround(value) : value, at, at + count);
      } else if (single) this.#gatherSingles(column.values, block, at);
      else this.#gatherDoubles(column.values, block, at);
    }
  }

  #gatherSingles(values: Float64Array, { rows, from, count }: Block, at: number): void {
    const to = this.#numbers;
    for (let i = 0; i < count; i++) to[at + i] = Math.fround(values[rows[from + i] as number] as number);
  }

  #gatherDoubles(values: Float64Array, { rows, from, count }: Block, at: number): void {
    const to = this.#numbers;
    for (let i = 0; i < count; i++) to[at + i] = values[rows[from + i] as number] as number;
  }

  #gatherCategories(rows: Int32Array, from: number, count: number, columns: Columns): void {
    const { rowLists, lists: none } = this.#map;
    const single = this.#ensemble.precision === 'float32';
    for (const [index, { feature, of, missing }] of this.#categories.entries()) {
      const column = columns[feature];
      const stride = column?.stride ?? 0;
      const at = (rowLists[index] ?? 0) / 4;
      for (let row = 0; row < count; row++) {
        let value = column?.values[(rows[from + row] ?? 0) * stride] ?? NaN;
        if (single) value = Math.fround(value);
        const list = Number.isNaN(value) ? missing : single && value < 0 ? none : of.get(Math.trunc(value));
        this.#ints[at + row] = list ?? none;
      }
    }
  }

  #startSums(count: number): void {
    const { sums } = this.#map;
    for (let output = 0; output < sums.length; output++) {
      const at = (sums[output] ?? 0) / this.#sums.BYTES_PER_ELEMENT;
      this.#sums.fill(this.#ensemble.base[output] ?? 0, at, at + count);
    }
  }

  #writeSums(rows: Int32Array, from: number, count: number, outputs: readonly Float64Array[]): void {
    const { sums } = this.#map;
    for (let output = 0; output < sums.length; output++) {
      const to = outputs[output];
      const at = (sums[output] ?? 0) / this.#sums.BYTES_PER_ELEMENT;
      if (to === undefined) continue;
      for (let row = 0; row < count; row++) to[rows[from + row] ?? 0] = this.#sums[at + row] ?? NaN;
    }
  }
}
