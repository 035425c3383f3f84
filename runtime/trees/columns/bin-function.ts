import { NodeRule, ZERO, type TreeEnsemble } from '../../api/tree-ensemble.js';
import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { BLOCK, searchSteps, type ProgramLayout } from './layout.js';
import type { NumericTests } from './node-tests.js';

/**
 * Writes the function `(rows, values, masks)` that computes the bits of one group of numeric tests for a block, of
 * which the last two are the offsets. Each row's value is placed among
 * the thresholds by a search without branches; its bit is set at the first threshold that it passes, and bits then
 * run up through the higher ones. A value that all rows share is placed once.
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
  // The thresholds that the row's value is beyond, times 8; then where its bit goes.
  const place = f.local(TYPE.i32);
  const value = f.local(TYPE.f64);
  const column = layout.features.indexOf(tests.feature);
  const masks = layout.masks + tests.firstSlot * 16;
  const isShared = (): FunctionWriter => f.i32(0).memory(OP.i32Load, layout.shared + column * 16);

  f.i32(1).get(count);
  isShared().op(OP.select).set(count);
  f.loopWhile(() => {
    f.get(row)
      .i32(3)
      .op(OP.i32Shl)
      .get(valueOffset)
      .op(OP.i32Add)
      .memory(OP.f64Load, layout.values + column * BLOCK * 8);
    if (ensemble.precision === 'float32') f.op(OP.f32DemoteF64, OP.f64PromoteF32);
    f.set(value);
    writeSearch(f, tests, at, ensemble.comparison, { value, place });
    f.get(place).i32(1).op(OP.i32Shl).get(row).i32(15).op(OP.i32And, OP.i32Add);
    f.get(maskOffset).op(OP.i32Add).tee(place);
    f.get(place).memory(OP.i32Load8U, masks);
    f.i32(1).get(row).i32(4).op(OP.i32ShrU, OP.i32Shl, OP.i32Or).memory(OP.i32Store8, masks);
    f.get(row).i32(1).op(OP.i32Add).tee(row).get(count).op(OP.i32LtU);
  });
  isShared().op(OP.if, TYPE.empty);
  f.get(place).splat(0xff).simdStore(masks).op(OP.end);
  writeRunUp(f, tests, masks, maskOffset);
  return f;
}

/** Leaves in `place` the slot of the row's value within the group, times 8. */
function writeSearch(
  f: FunctionWriter,
  { missing, ways, thresholds }: NumericTests,
  at: number,
  comparison: TreeEnsemble['comparison'],
  { value, place }: { readonly value: number; readonly place: number },
): void {
  const isNaN = (): FunctionWriter => f.get(value).get(value).op(OP.f64Ne);
  if (missing === NodeRule.none) {
    f.f64(0).get(value);
    isNaN().op(OP.select).set(value);
  }
  f.i32(0).set(place);
  for (let step = searchSteps(thresholds.length) - 1; step >= 0; step--) {
    f.get(place);
    f.get(place).memory(OP.f64Load, at + (2 ** step - 1) * 8);
    f.get(value).op(comparison === 'less' ? OP.f64Le : OP.f64Lt);
    f.i32(step + 3)
      .op(OP.i32Shl, OP.i32Add)
      .set(place);
  }
  if (missing === NodeRule.none) return;
  // Missing values pass every threshold, or have a slot of their own.
  f.i32(ways === 'left' ? 0 : (thresholds.length + 1) * 8).get(place);
  isNaN();
  if (missing === NodeRule.zero) f.get(value).op(OP.f64Abs).f64(ZERO).op(OP.f64Le, OP.i32Or);
  f.op(OP.select).set(place);
}

/** Lets each slot take the bits of those below it; a second set takes the missing rows' bits too. */
function writeRunUp(f: FunctionWriter, { ways, thresholds }: NumericTests, masks: number, at: number): void {
  const last = f.local(TYPE.i32);
  const bits = f.local(TYPE.v128);
  const missing = f.local(TYPE.v128);
  const end = thresholds.length * 16;
  const second = masks + end + 32;
  if (ways === 'both')
    f.get(at)
      .simdLoad(masks + end + 16)
      .set(missing);
  f.get(at).i32(end).op(OP.i32Add).set(last);
  f.loopWhile(() => {
    f.get(at).get(at).simdLoad(masks).get(bits).simd(SIMD.or).tee(bits).simdStore(masks);
    if (ways === 'both') f.get(at).get(bits).get(missing).simd(SIMD.or).simdStore(second);
    f.get(at).i32(16).op(OP.i32Add).tee(at).get(last).op(OP.i32LtU);
  });
}
