import { NodeRule, ZERO, type TreeEnsemble } from '../../../ground/api/tree-ensemble.js';
import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { GROUP, MOST_STEPS, PLANES, planeShift, type Width } from './memory.js';

/**
 * The number of rows that are searched at the same time. Each search waits for its loads, so several run side by side.
 */
const LANES = 16;

/** The locals for one of the rows that are searched at the same time. */
interface Lane {
  readonly value: number;
  /** The number of thresholds that the value is beyond, times 8. */
  readonly place: number;
}

/**
 * Writes the function `(group, end, rows, first)`. It computes the planes of groups of numeric tests. A search without
 * branches finds each row's place among the thresholds. The row sets its bit in the plane of the first threshold that
 * it passes, one of the planes at `first`. From there the bit is carried to the higher thresholds. A value that all
 * rows share is searched once. Rows are handled 16 at a time, and the memory has room beyond the last row.
 */
export function writeTestValues(width: Width, comparison: TreeEnsemble['comparison']): FunctionWriter {
  const f = new FunctionWriter(4);
  const [group, end, rows, first] = [0, 1, 2, 3];
  const i32 = (): number => f.local(TYPE.i32);
  const [row, count, at, bit, from] = [i32(), i32(), i32(), i32(), i32()];
  const lanes = Array.from({ length: LANES }, () => ({ place: i32(), value: f.local(TYPE.f64) }));
  const field = (offset: number): FunctionWriter => f.get(group).memory(OP.i32Load, offset);
  const isShared = (): FunctionWriter => field(GROUP.shared).memory(OP.i32Load, 0);

  const search = writeSearch(f, group, comparison, lanes);
  const runUp = writeRunUp(f, group, first, width);
  f.loopWhile(() => {
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
      f.i32(1).get(row).i32(4).op(OP.i32ShrU).i32(7).op(OP.i32And, OP.i32Shl).set(bit);
      f.get(row).i32(7).op(OP.i32ShrU).i32(4).op(OP.i32Shl).get(first).op(OP.i32Add).set(from);
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

/**
 * Leaves in each lane's `place` the number of thresholds that its value is beyond, times 8. Each step halves the
 * range. All rows of a group need the same steps, so these branches cost nothing.
 */
function writeSearch(
  f: FunctionWriter,
  group: number,
  comparison: TreeEnsemble['comparison'],
  lanes: readonly Lane[],
): () => void {
  const [thresholds, half, rule, missing] = [
    f.local(TYPE.i32),
    f.local(TYPE.i32),
    f.local(TYPE.i32),
    f.local(TYPE.i32),
  ];
  const ifRule = (of: number, write: () => void): void => {
    f.get(rule).i32(of).op(OP.i32Eq, OP.if, TYPE.empty);
    write();
    f.op(OP.end);
  };
  return () => {
    for (const [local, field] of [
      [thresholds, GROUP.thresholds],
      [half, GROUP.half],
      [rule, GROUP.rule],
      [missing, GROUP.missing],
    ] as const)
      f.get(group).memory(OP.i32Load, field).set(local);
    ifRule(NodeRule.none, () => {
      for (const { value } of lanes)
        f.get(value).f64(0).get(value).get(value).op(OP.f64Eq, OP.select).set(value);
    });
    for (const { place } of lanes) f.get(thresholds).set(place);
    for (let bytes = 8 * 2 ** (MOST_STEPS - 1); bytes >= 8; bytes /= 2) {
      f.i32(bytes).get(half).op(OP.i32LeU, OP.if, TYPE.empty);
      for (const { value, place } of lanes) {
        // The last threshold of the lower half.
        f.get(place)
          .get(place)
          .memory(OP.f64Load, bytes - 8)
          .get(value);
        f.op(comparison === 'less' ? OP.f64Le : OP.f64Lt)
          .i32(Math.log2(bytes))
          .op(OP.i32Shl, OP.i32Add)
          .set(place);
      }
      f.op(OP.end);
    }
    for (const { value, place } of lanes)
      f.get(missing)
        .get(place)
        .get(thresholds)
        .op(OP.i32Sub)
        .get(value)
        .get(value)
        .op(OP.f64Ne, OP.select)
        .set(place);
    ifRule(NodeRule.zero, () => {
      for (const { value, place } of lanes)
        f.get(missing).get(place).get(value).op(OP.f64Abs).f64(ZERO).op(OP.f64Le, OP.select).set(place);
    });
  };
}

/**
 * Gives each plane the bits of the rows whose first threshold is this one or a lower one. Planes of nodes that send
 * missing values left also get the bits of missing rows. Afterwards all bits of the `first` planes are 0.
 */
function writeRunUp(f: FunctionWriter, group: number, first: number, width: Width): () => void {
  const [at, to, planes, left] = [f.local(TYPE.i32), f.local(TYPE.i32), f.local(TYPE.i32), f.local(TYPE.i32)];
  const bits = Array.from({ length: width }, () => f.local(TYPE.v128));
  const shift = planeShift(width);
  const count = (): FunctionWriter => f.get(group).memory(OP.i32Load, GROUP.count);
  const side = (field: number, start: (block: number) => void): void => {
    f.get(group).memory(OP.i32Load, field).tee(planes).op(OP.if, TYPE.empty);
    for (const [block, one] of bits.entries()) {
      start(block);
      f.set(one);
    }
    f.get(first).set(at);
    count().set(left);
    f.loopWhile(() => {
      f.get(planes).memory(OP.i32Load, 0).i32(shift).op(OP.i32Shl).set(to);
      for (const [block, one] of bits.entries()) {
        f.get(to)
          .get(at)
          .simdLoad(block * 16)
          .get(one)
          .simd(SIMD.or)
          .tee(one);
        f.simdStore(PLANES + block * 16);
      }
      f.increase(at, 16 * width).increase(planes, 4);
      f.get(left).i32(1).op(OP.i32Sub).tee(left);
    });
    f.op(OP.end);
  };
  return () => {
    side(GROUP.right, () => f.splat(0));
    // Missing rows are placed after the rows that pass no threshold.
    count().i32(1).op(OP.i32Add).i32(shift).op(OP.i32Shl).get(first).op(OP.i32Add).set(to);
    side(GROUP.left, (block) => f.get(to).simdLoad(block * 16));
    f.get(first).i32(0);
    count().i32(2).op(OP.i32Add).i32(shift).op(OP.i32Shl).fill();
  };
}
