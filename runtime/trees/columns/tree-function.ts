import type { DecisionTree } from '../../api/tree-ensemble.js';
import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { BLOCK, type ProgramLayout } from './layout.js';
import { bottomUp, type LeafCodes } from './leaf-codes.js';

/** Groups of 16 rows in a block. */
const GROUPS = BLOCK / 16;

/** A bit of the leaves' codes below a node, for 128 rows: the same for all, or in a local. */
type Plane = 'zeros' | 'ones' | number;

/**
 * Writes the function `(groups)` that adds one tree to the sums of `16 · groups` rows, block by block: from the leaves up, every node
 * selects the bits of its left or right side's leaf codes for 128 rows at once; then the codes of 16 rows at a time
 * look up what their leaves add.
 * @param slots by node, the slot of its test
 */
export function writeTreeFunction(
  tree: DecisionTree,
  index: number,
  slots: Int32Array,
  codes: LeafCodes,
  layout: ProgramLayout,
): FunctionWriter {
  const f = new FunctionWriter(1);
  const left = 0;
  const groups = f.local(TYPE.i32);
  const masks = f.local(TYPE.i32);
  const sum = f.local(TYPE.i32);
  f.loopWhile(() => {
    const planes = new PlaneWriter(f, tree, slots, codes, { local: masks, offset: layout.masks }).root();
    f.get(left).i32(GROUPS).get(left).i32(GROUPS).op(OP.i32LtU, OP.select).set(groups);
    f.get(left).get(groups).op(OP.i32Sub).set(left);
    writeSums(f, planes, {
      groups,
      sum,
      table: layout.leaves[index] ?? 0,
      sums: layout.sums[tree.output] ?? 0,
      scratch: layout.scratch,
      width: layout.width,
    });
    f.get(masks).i32(layout.maskBytes).op(OP.i32Add).set(masks).get(left);
  });
  return f;
}

class PlaneWriter {
  readonly #planes: Plane[][] = [];
  readonly #free: number[] = [];
  readonly #uses = new Map<number, number>();

  constructor(
    readonly f: FunctionWriter,
    readonly tree: DecisionTree,
    readonly slots: Int32Array,
    readonly codes: LeafCodes,
    readonly masks: { readonly local: number; readonly offset: number },
  ) {}

  root(): readonly Plane[] {
    for (const node of bottomUp(this.tree)) this.#planes[node] = this.#select(node);
    return this.#of(this.tree.feature.length === 0 ? ~0 : 0);
  }

  #of(child: number): readonly Plane[] {
    if (child >= 0) return this.#planes[child] ?? [];
    const code = this.codes.codes[~child] ?? 0;
    return Array.from({ length: this.codes.bits }, (_, bit) => ((code >> bit) & 1 ? 'ones' : 'zeros'));
  }

  #select(node: number): Plane[] {
    const { f } = this;
    const left = this.#of(this.tree.left[node] ?? ~0);
    const right = this.#of(this.tree.right[node] ?? ~0);
    const test = this.#take();
    f.get(this.masks.local)
      .simdLoad(this.masks.offset + (this.slots[node] ?? 0) * 16)
      .set(test);
    const selected = left.map((one, bit) => this.#selectBit(test, one, right[bit] ?? 'zeros'));
    for (const plane of [...left, ...right, test]) if (typeof plane === 'number') this.#release(plane);
    return selected;
  }

  #selectBit(test: number, left: Plane, right: Plane): Plane {
    const { f } = this;
    if (typeof left === 'number') {
      if (typeof right === 'number') f.get(left).get(right).get(test).simd(SIMD.bitselect);
      else if (right === 'zeros') f.get(left).get(test).simd(SIMD.and);
      else f.get(test).get(left).simd(SIMD.andnot).simd(SIMD.not);
    } else if (typeof right === 'number') {
      f.get(right)
        .get(test)
        .simd(left === 'zeros' ? SIMD.andnot : SIMD.or);
    } else if (left === right) return left;
    else if (left === 'ones') {
      this.#uses.set(test, (this.#uses.get(test) ?? 0) + 1);
      return test;
    } else f.get(test).simd(SIMD.not);
    const to = this.#take();
    f.set(to);
    return to;
  }

  #take(): number {
    const local = this.#free.pop() ?? this.f.local(TYPE.v128);
    this.#uses.set(local, 1);
    return local;
  }

  #release(local: number): void {
    const uses = (this.#uses.get(local) ?? 1) - 1;
    this.#uses.set(local, uses);
    if (uses === 0) this.#free.push(local);
  }
}

interface Addresses {
  /** Local: the groups to do; 0 after that. */
  readonly groups: number;
  /** Local: offset of the next group's sums. */
  readonly sum: number;
  readonly table: number;
  readonly sums: number;
  readonly scratch: number;
  readonly width: 4 | 8;
}

/** For each group of 16 rows: the bits of its rows' codes, brought together to offsets into the table of leaves. */
function writeSums(f: FunctionWriter, planes: readonly Plane[], addresses: Addresses): void {
  const { groups, sum: at, table, sums, scratch, width } = addresses;
  const low = f.local(TYPE.v128);
  const high = f.local(TYPE.v128);
  // A plane may stand for several bits, or for a test; shifting needs one of its own.
  const own = planes.map((plane) => {
    if (typeof plane !== 'number') return plane;
    const local = f.local(TYPE.v128);
    f.get(plane).set(local);
    return local;
  });
  f.loopWhile(() => {
    if (own.length > 0) {
      writeByte(f, own.slice(0, 8));
      f.set(low);
      if (own.length > 8) writeByte(f, own.slice(8));
      if (own.length > 8) f.set(high);
      for (const [half, extend] of [SIMD.i16x8ExtendLowI8x16U, SIMD.i16x8ExtendHighI8x16U].entries()) {
        f.i32(0).get(low).simd(extend);
        if (own.length > 8) f.get(high).simd(extend).i32(8).simd(SIMD.i16x8Shl).simd(SIMD.or);
        f.i32(width === 8 ? 3 : 2)
          .simd(SIMD.i16x8Shl)
          .simdStore(scratch + half * 16);
      }
    }
    const [load, add, store] =
      width === 8 ? [OP.f64Load, OP.f64Add, OP.f64Store] : [OP.f32Load, OP.f32Add, OP.f32Store];
    for (let row = 0; row < 16; row++) {
      const sum = sums + row * width;
      f.get(at).get(at).memory(load, sum).i32(0);
      if (own.length > 0) f.memory(OP.i32Load16U, scratch + row * 2);
      f.memory(load, table).op(add).memory(store, sum);
    }
    for (const plane of own)
      if (typeof plane === 'number') f.get(plane).i32(1).simd(SIMD.i16x8ShrU).set(plane);
    f.get(at)
      .i32(16 * width)
      .op(OP.i32Add)
      .set(at);
    f.get(groups).i32(1).op(OP.i32Sub).tee(groups);
  });
}

/** Leaves a vector on the stack: in each byte, the lowest bits of up to eight planes. */
function writeByte(f: FunctionWriter, planes: readonly Plane[]): void {
  for (const [bit, plane] of planes.entries()) {
    if (plane === 'ones') f.splat(1 << bit);
    else if (plane === 'zeros') f.splat(0);
    else {
      f.get(plane).splat(1).simd(SIMD.and);
      if (bit > 0) f.i32(bit).simd(SIMD.i16x8Shl);
    }
    if (bit > 0) f.simd(SIMD.or);
  }
}
