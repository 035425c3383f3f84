import type { TreeEnsemble } from '../../api/tree-ensemble.js';
import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { GROUP, PLANES, planeShift, type Width } from './memory.js';

/** Rows that are placed at a time: each search waits for its loads, so several go on side by side. */
const LANES = 8;

/** The locals of one of the rows that are placed at a time. */
interface Lane {
  readonly value: number;
  /** The thresholds that the value is beyond, times 8. */
  readonly place: number;
}

/**
 * Writes the function `(group, end, rows, first)` that computes the planes of groups of numeric tests. Each row's value
 * is placed among the thresholds by a search without branches; its bit is set at the first threshold that it passes, in
 * `first`, a plane for each of them, and runs up from there through the higher ones. A value that all rows share is
 * placed once. Rows are taken eight at a time: there is room for those past the last.
 */
export function writeTestValues(width: Width, comparison: TreeEnsemble['comparison']): FunctionWriter {
  const f = new FunctionWriter(4);
  const [group, end, rows, first] = [0, 1, 2, 3];
  const i32 = (): number => f.local(TYPE.i32);
  const [row, count, at, bit, from] = [i32(), i32(), i32(), i32(), i32()];
  const [nan, limit] = [f.local(TYPE.f64), f.local(TYPE.f64)];
  const lanes = Array.from({ length: LANES }, () => ({ place: i32(), value: f.local(TYPE.f64) }));
  const field = (offset: number): FunctionWriter => f.get(group).memory(OP.i32Load, offset);
  const isShared = (): FunctionWriter => field(GROUP.shared).memory(OP.i32Load, 0);

  const search = writeSearch(f, group, comparison, lanes, { nan, limit });
  const runUp = writeRunUp(f, group, first, width);
  f.loopWhile(() => {
    f.get(group).memory(OP.f64Load, GROUP.nan).set(nan);
    f.get(group).memory(OP.f64Load, GROUP.limit).set(limit);
    f.i32(1).get(rows);
    isShared().op(OP.select).set(count);
    f.i32(0).set(row);
    f.loopWhile(() => {
      field(GROUP.values).get(row).i32(3).op(OP.i32Shl, OP.i32Add).set(at);
      for (const [i, { value }] of lanes.entries())
        f.get(at)
          .memory(OP.f64Load, i * 8)
          .set(value);
      search();
      // The lanes' rows differ in their last bits alone.
      f.i32(1).get(row).i32(4).op(OP.i32ShrU).i32(7).op(OP.i32And, OP.i32Shl).set(bit);
      f.get(row).i32(7).op(OP.i32ShrU).i32(4).op(OP.i32Shl).get(row).i32(15).op(OP.i32And, OP.i32Add);
      f.get(first).op(OP.i32Add).set(from);
      for (const [i, { place }] of lanes.entries()) {
        f.get(place)
          .i32(planeShift(width) - 3)
          .op(OP.i32Shl)
          .get(from)
          .op(OP.i32Add)
          .tee(at);
        f.get(at).memory(OP.i32Load8U, i).get(bit).op(OP.i32Or).memory(OP.i32Store8, i);
      }
      f.increase(row, LANES).get(row).get(count).op(OP.i32LtU);
    });
    isShared().op(OP.if, TYPE.empty);
    f.get(lanes[0]?.place ?? 0)
      .i32(planeShift(width) - 3)
      .op(OP.i32Shl)
      .get(first)
      .op(OP.i32Add)
      .set(at);
    for (let block = 0; block < width; block++)
      f.get(at)
        .splat(0xff)
        .simdStore(block * 16);
    f.op(OP.end);
    runUp();
    f.increase(group, GROUP.bytes).get(group).get(end).op(OP.i32LtU);
  });
  return f;
}

/** Leaves in each lane's `place` the number of thresholds that its value is beyond, times 8. */
function writeSearch(
  f: FunctionWriter,
  group: number,
  comparison: TreeEnsemble['comparison'],
  lanes: readonly Lane[],
  { nan, limit }: { readonly nan: number; readonly limit: number },
): () => void {
  const half = f.local(TYPE.i32);
  const thresholds = f.local(TYPE.i32);
  const probe = f.local(TYPE.i32);
  const missing = f.local(TYPE.i32);
  return () => {
    for (const { value, place } of lanes) {
      f.get(value).get(nan).get(value).get(value).op(OP.f64Eq, OP.select).set(value);
      f.i32(0).set(place);
    }
    f.get(group).memory(OP.i32Load, GROUP.half).set(half);
    f.get(group).memory(OP.i32Load, GROUP.thresholds).set(thresholds);
    f.get(group).memory(OP.i32Load, GROUP.missing).set(missing);
    f.loopWhile(() => {
      // The last one of the lower half.
      f.get(thresholds).get(half).op(OP.i32Add).i32(8).op(OP.i32Sub).set(probe);
      for (const { value, place } of lanes) {
        f.get(half).i32(0);
        f.get(place).get(probe).op(OP.i32Add).memory(OP.f64Load, 0);
        f.get(value).op(comparison === 'less' ? OP.f64Le : OP.f64Lt);
        f.op(OP.select).get(place).op(OP.i32Add).set(place);
      }
      f.i32(7).get(half).i32(1).op(OP.i32ShrU).tee(half).op(OP.i32LtU);
    });
    for (const { value, place } of lanes) {
      f.get(missing).get(place).get(value).get(value).op(OP.f64Ne);
      f.get(value).op(OP.f64Abs).get(limit).op(OP.f64Le, OP.i32Or, OP.select).set(place);
    }
  };
}

/**
 * Gives each plane the bits of those that pass its threshold first or a lower one, and a second set the missing rows'
 * bits too; leaves nothing where the first ones were set.
 */
function writeRunUp(f: FunctionWriter, group: number, first: number, width: Width): () => void {
  const [at, to, left] = [f.local(TYPE.i32), f.local(TYPE.i32), f.local(TYPE.i32)];
  const bits = Array.from({ length: width }, () => f.local(TYPE.v128));
  const bytes = 16 * width;
  const plane = (field: number): FunctionWriter =>
    f.get(group).memory(OP.i32Load, field).i32(planeShift(width)).op(OP.i32Shl);
  const count = (): FunctionWriter => f.get(group).memory(OP.i32Load, GROUP.count);
  const down = (): FunctionWriter => f.get(left).i32(1).op(OP.i32Sub).tee(left);
  return () => {
    for (const one of bits) f.splat(0).set(one);
    f.get(first).set(at);
    plane(GROUP.plane).set(to);
    count().set(left);
    f.loopWhile(() => {
      for (const [block, one] of bits.entries()) {
        f.get(at)
          .simdLoad(block * 16)
          .get(one)
          .simd(SIMD.or)
          .set(one);
        f.get(to)
          .get(one)
          .simdStore(PLANES + block * 16);
        f.get(at)
          .splat(0)
          .simdStore(block * 16);
      }
      f.increase(at, bytes).increase(to, bytes);
      down();
    });
    f.get(group).memory(OP.i32Load, GROUP.second).op(OP.if, TYPE.empty);
    for (const [block, one] of bits.entries())
      f.get(at)
        .simdLoad(bytes + block * 16)
        .set(one);
    plane(GROUP.plane).set(at);
    plane(GROUP.second).set(to);
    count().set(left);
    f.loopWhile(() => {
      for (const [block, one] of bits.entries()) {
        f.get(to).get(at);
        f.simdLoad(PLANES + block * 16)
          .get(one)
          .simd(SIMD.or)
          .simdStore(PLANES + block * 16);
      }
      f.increase(at, bytes).increase(to, bytes);
      down();
    });
    f.op(OP.end);
    // Rows that pass none, and missing ones.
    count().i32(planeShift(width)).op(OP.i32Shl).get(first).op(OP.i32Add).set(at);
    for (let block = 0; block < 2 * width; block++)
      f.get(at)
        .splat(0)
        .simdStore(block * 16);
  };
}
