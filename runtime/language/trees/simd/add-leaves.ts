import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { BLOCK, CODES, LINEAR, OFFSETS, PLANES, TERM, TREE } from './memory.js';

/** What leaves add: numbers of one precision, or linear functions of features in float64. */
export type LeafKind = 'float32' | 'float64' | 'linear';

/** The logarithm of the size in bytes of an entry in a tree's table of leaves. */
export const LEAF_SHIFT = { float32: 2, float64: 3, linear: 2 } as const;

/** The number of groups of 16 rows in a block. */
const GROUPS = BLOCK / 16;

/**
 * Writes the function `(tree, shift, groups)`. It adds the leaves of a tree to the sums of `16 · groups` rows.
 * @param long whether leaf codes have more than eight bits
 */
export function writeAddLeaves(kind: LeafKind, long: boolean): FunctionWriter {
  const f = new FunctionWriter(3);
  const [tree, shift, groups] = [0, 1, 2];
  const i32 = (): number => f.local(TYPE.i32);
  const [block, left, code, sum, table] = [i32(), i32(), i32(), i32(), i32()];
  const transpose = writeTranspose(f, tree, shift, block);
  const sumBytes = kind === 'float32' ? 4 : 8;
  const add = kind === 'linear' ? writeLinear(f, tree, table, sum) : writeNumbers(f, table, sum, kind);
  f.get(tree).memory(OP.i32Load, TREE.leaves).set(table);
  f.get(tree).memory(OP.i32Load, TREE.sums).set(sum);
  f.loopWhile(() => {
    transpose(0);
    if (long) transpose(8);
    f.get(groups).i32(GROUPS).get(groups).i32(GROUPS).op(OP.i32LtU, OP.select).set(left);
    f.get(groups).get(left).op(OP.i32Sub).set(groups);
    f.i32(0).set(code);
    f.loopWhile(() => {
      for (const [half, extend] of [SIMD.i16x8ExtendLowI8x16U, SIMD.i16x8ExtendHighI8x16U].entries()) {
        f.i32(0).get(code).simdLoad(CODES).simd(extend);
        if (long) {
          f.get(code)
            .simdLoad(CODES + GROUPS * 16)
            .simd(extend);
          f.i32(8).simd(SIMD.i16x8Shl).simd(SIMD.or);
        }
        f.i32(LEAF_SHIFT[kind])
          .simd(SIMD.i16x8Shl)
          .simdStore(OFFSETS + half * 16);
      }
      add();
      f.increase(sum, 16 * sumBytes).increase(code, 16);
      f.get(left).i32(1).op(OP.i32Sub).tee(left);
    });
    f.increase(block, 16).get(groups);
  });
  return f;
}

/**
 * Turns eight planes of a block into eight vectors. A byte of a plane holds one bit of eight rows; a byte of a vector
 * holds eight bits of one row. Each byte is a matrix of 8 × 8 bits that is transposed by halves (Hacker's Delight,
 * 7-3).
 */
function writeTranspose(
  f: FunctionWriter,
  tree: number,
  shift: number,
  block: number,
): (firstBit: number) => void {
  const rows = Array.from({ length: 8 }, () => f.local(TYPE.v128));
  const swapped = f.local(TYPE.v128);
  return (firstBit) => {
    for (const [bit, row] of rows.entries()) {
      f.get(tree).memory(OP.i32Load, TREE.code + 4 * (firstBit + bit));
      f.get(shift).op(OP.i32Shl).get(block).op(OP.i32Add).simdLoad(PLANES).set(row);
    }
    for (const [distance, mask] of [
      [4, 0x0f],
      [2, 0x33],
      [1, 0x55],
    ] as const) {
      for (let i = 0; i < 8; i++) {
        if ((i & distance) !== 0) continue;
        const [low = 0, high = 0] = [rows[i], rows[i + distance]];
        f.get(low)
          .i32(distance)
          .simd(SIMD.i16x8ShrU)
          .get(high)
          .simd(SIMD.xor)
          .splat(mask)
          .simd(SIMD.and)
          .set(swapped);
        f.get(high).get(swapped).simd(SIMD.xor).set(high);
        f.get(low).get(swapped).i32(distance).simd(SIMD.i16x8Shl).simd(SIMD.xor).set(low);
      }
    }
    for (const [group, row] of rows.entries())
      f.i32(0)
        .get(row)
        .simdStore(CODES + (firstBit + group) * 16);
  };
}

function writeNumbers(
  f: FunctionWriter,
  table: number,
  sum: number,
  kind: 'float32' | 'float64',
): () => void {
  const [load, add, store] =
    kind === 'float64' ? [OP.f64Load, OP.f64Add, OP.f64Store] : [OP.f32Load, OP.f32Add, OP.f32Store];
  const bytes = kind === 'float64' ? 8 : 4;
  return () => {
    for (let row = 0; row < 16; row++) {
      f.get(sum)
        .get(sum)
        .memory(load, row * bytes);
      f.i32(0)
        .memory(OP.i32Load16U, OFFSETS + row * 2)
        .get(table)
        .op(OP.i32Add)
        .memory(load, 0);
      f.op(add).memory(store, row * bytes);
    }
  };
}

/**
 * Adds the linear function of each of 16 rows' leaves, or the value of the leaf if a feature of the function is
 * missing.
 */
function writeLinear(f: FunctionWriter, tree: number, table: number, sum: number): () => void {
  const i32 = (): number => f.local(TYPE.i32);
  const [codes, row, leaf, term, last, missing] = [i32(), i32(), i32(), i32(), i32(), i32()];
  const [value, total] = [f.local(TYPE.f64), f.local(TYPE.f64)];
  return () => {
    // A row's value has the same offset from the first value of a feature as its sum from the first sum.
    f.get(sum).get(tree).memory(OP.i32Load, TREE.sums).op(OP.i32Sub).set(row);
    f.i32(0).set(codes);
    f.loopWhile(() => {
      f.get(codes).memory(OP.i32Load16U, OFFSETS).get(table).op(OP.i32Add).memory(OP.i32Load, 0).tee(leaf);
      f.memory(OP.f64Load, LINEAR.constant).set(total);
      f.i32(0).set(missing);
      f.get(leaf).i32(LINEAR.bytes).op(OP.i32Add).tee(term);
      f.get(leaf).memory(OP.i32Load, LINEAR.terms).i32(TERM.bytes).op(OP.i32Mul, OP.i32Add).set(last);
      f.get(term).get(last).op(OP.i32Ne, OP.if, TYPE.empty);
      f.loopWhile(() => {
        f.get(term).memory(OP.i32Load, TERM.values).get(row).op(OP.i32Add).memory(OP.f64Load, 0).set(value);
        f.get(total).get(term).memory(OP.f64Load, TERM.coefficient).get(value).op(OP.f64Mul, OP.f64Add);
        f.set(total).get(missing).get(value).get(value).op(OP.f64Ne, OP.i32Or).set(missing);
        f.increase(term, TERM.bytes).get(term).get(last).op(OP.i32Ne);
      });
      f.op(OP.end);
      f.get(sum).get(codes).i32(2).op(OP.i32Shl, OP.i32Add).tee(term);
      f.get(term).memory(OP.f64Load, 0);
      f.get(leaf).memory(OP.f64Load, LINEAR.value).get(total).get(missing).op(OP.select, OP.f64Add);
      f.memory(OP.f64Store, 0);
      f.increase(row, 8).increase(codes, 2).get(codes).i32(32).op(OP.i32LtU);
    });
  };
}
