import { NodeRule, ZERO, type TreeEnsemble } from '../../api/tree-ensemble.js';
import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { BLOCK, searchSteps, type ProgramLayout } from './layout.js';
import type { NumericTests } from './node-tests.js';

/** Rows that are placed at a time: each search waits for its loads, so several go on side by side. */
const LANES = 8;

/** The locals of one of the rows that are placed at a time. */
interface Lane {
  readonly value: number;
  /** The thresholds that the value is beyond, times 8; then where its bit goes. */
  readonly place: number;
}

/**
 * Writes the function `(rows, values, masks)` that computes the bits of one group of numeric tests for a block, of
 * which the last two are the offsets. Each row's value is placed among the thresholds by a search without branches;
 * its bit is set at the first threshold that it passes, beside the bits, where all groups use the same few kilobytes,
 * and runs up from there through the higher ones. A value that all rows share is placed once. Rows are taken eight at a
 * time: a block has room for those past the last.
 * @param at where the thresholds lie
 */
export function writeBinFunction(
  tests: NumericTests,
  at: number,
  layout: ProgramLayout,
  ensemble: TreeEnsemble,
): FunctionWriter {
  const f = new FunctionWriter(3);
  const [count, valueOffset, maskOffset] = [0, 1, 2];
  const row = f.local(TYPE.i32);
  const from = f.local(TYPE.i32);
  const bit = f.local(TYPE.i32);
  const lanes = Array.from({ length: LANES }, () => ({ place: f.local(TYPE.i32), value: f.local(TYPE.f64) }));
  const [first = { place: 0, value: 0 }] = lanes;
  const column = layout.features.indexOf(tests.feature);
  const isShared = (): FunctionWriter => f.i32(0).memory(OP.i32Load, layout.shared + column * 16);

  f.i32(1).get(count);
  isShared().op(OP.select).set(count);
  f.loopWhile(() => {
    f.get(row).i32(3).op(OP.i32Shl).get(valueOffset).op(OP.i32Add).set(from);
    for (const [i, { value }] of lanes.entries()) {
      f.get(from).memory(OP.f64Load, layout.values + (column * BLOCK + i) * 8);
      if (ensemble.precision === 'float32') f.op(OP.f32DemoteF64, OP.f64PromoteF32);
      f.set(value);
    }
    writeSearch(f, tests, at, ensemble.comparison, lanes);
    // The lanes' rows differ in their last bits alone.
    f.i32(1).get(row).i32(4).op(OP.i32ShrU, OP.i32Shl).set(bit);
    f.get(row).i32(15).op(OP.i32And).set(from);
    for (const [i, { place }] of lanes.entries()) {
      f.get(place).i32(1).op(OP.i32Shl).get(from).op(OP.i32Add).tee(place);
      f.get(place)
        .memory(OP.i32Load8U, layout.first + i)
        .get(bit)
        .op(OP.i32Or)
        .memory(OP.i32Store8, layout.first + i);
    }
    f.get(row).i32(LANES).op(OP.i32Add).tee(row).get(count).op(OP.i32LtU);
  });
  isShared().op(OP.if, TYPE.empty);
  f.get(first.place).splat(0xff).simdStore(layout.first).op(OP.end);
  writeRunUp(f, tests, layout, maskOffset);
  return f;
}

/** Leaves in each lane's `place` the slot of its value within the group, times 8. */
function writeSearch(
  f: FunctionWriter,
  { missing, ways, thresholds }: NumericTests,
  at: number,
  comparison: TreeEnsemble['comparison'],
  lanes: readonly Lane[],
): void {
  const isNaN = (value: number): FunctionWriter => f.get(value).get(value).op(OP.f64Ne);
  for (const { value, place } of lanes) {
    if (missing === NodeRule.none) {
      f.f64(0).get(value);
      isNaN(value).op(OP.select).set(value);
    }
    f.i32(0).set(place);
  }
  for (let step = searchSteps(thresholds.length) - 1; step >= 0; step--) {
    for (const { value, place } of lanes) {
      f.get(place);
      f.get(place).memory(OP.f64Load, at + (2 ** step - 1) * 8);
      f.get(value).op(comparison === 'less' ? OP.f64Le : OP.f64Lt);
      f.i32(step + 3)
        .op(OP.i32Shl, OP.i32Add)
        .set(place);
    }
  }
  if (missing === NodeRule.none) return;
  // Missing values pass every threshold, or have a slot of their own.
  for (const { value, place } of lanes) {
    f.i32(ways === 'left' ? 0 : (thresholds.length + 1) * 8).get(place);
    isNaN(value);
    if (missing === NodeRule.zero) f.get(value).op(OP.f64Abs).f64(ZERO).op(OP.f64Le, OP.i32Or);
    f.op(OP.select).set(place);
  }
}

/**
 * Gives each slot the bits of those that pass its threshold first or a lower one, and a second set the missing rows'
 * bits too; leaves nothing where the first ones were set.
 */
function writeRunUp(
  f: FunctionWriter,
  { ways, thresholds, firstSlot }: NumericTests,
  { first, masks }: ProgramLayout,
  maskOffset: number,
): void {
  const at = f.local(TYPE.i32);
  const to = f.local(TYPE.i32);
  const bits = f.local(TYPE.v128);
  const missing = f.local(TYPE.v128);
  const end = thresholds.length * 16;
  const own = masks + firstSlot * 16;
  const second = own + end + 32;
  if (ways === 'both')
    f.i32(0)
      .simdLoad(first + end + 16)
      .set(missing);
  f.i32(0).set(at).get(maskOffset).set(to);
  f.loopWhile(() => {
    f.get(at).simdLoad(first).get(bits).simd(SIMD.or).set(bits);
    f.get(at).splat(0).simdStore(first);
    f.get(to).get(bits).simdStore(own);
    if (ways === 'both') f.get(to).get(bits).get(missing).simd(SIMD.or).simdStore(second);
    f.get(to).i32(16).op(OP.i32Add).set(to);
    f.get(at).i32(16).op(OP.i32Add).tee(at).i32(end).op(OP.i32LtU);
  });
  for (const spare of [end, end + 16]) f.i32(spare).splat(0).simdStore(first);
}
