import { FunctionWriter, OP, SIMD, TYPE } from '../wasm/encoder.js';
import { ONES, OPERATION_BYTES, PLANES, planeShift, TREE, ZEROS, type Width } from './memory.js';

/**
 * Writes the function `(tree, end, groups)`. It adds all trees to the sums of `16 · groups` rows. Each operation
 * selects bits from one of two planes by the bits of a test. Operations go from the leaves of a tree up, until the
 * bits of its leaf codes are planes.
 * @param addLeaves indexes of two functions: for codes of up to eight bits, and for longer codes
 */
export function writeAddTrees(
  width: Width,
  addLeaves: { readonly short: number; readonly long: number },
): FunctionWriter {
  const f = new FunctionWriter(3);
  const [tree, end, groups] = [0, 1, 2];
  const i32 = (): number => f.local(TYPE.i32);
  const [at, last] = [i32(), i32()];
  const [test, left, right, to] = [i32(), i32(), i32(), i32()];
  const shift = planeShift(width);
  for (const [plane, byte] of [
    [ZEROS, 0],
    [ONES, 0xff],
  ] as const) {
    for (let block = 0; block < width; block++)
      f.i32(plane << shift)
        .splat(byte)
        .simdStore(PLANES + block * 16);
  }
  f.loopWhile(() => {
    f.get(tree).i32(TREE.bytes).op(OP.i32Add).tee(at);
    f.get(tree).memory(OP.i32Load, TREE.operations).i32(OPERATION_BYTES).op(OP.i32Mul, OP.i32Add).set(last);
    f.get(at).get(last).op(OP.i32Ne, OP.if, TYPE.empty);
    f.loopWhile(() => {
      for (const [operand, local] of [test, left, right, to].entries())
        f.get(at)
          .memory(OP.i32Load, operand * 4)
          .i32(shift)
          .op(OP.i32Shl)
          .set(local);
      for (let block = 0; block < width; block++) {
        f.get(to);
        for (const local of [left, right, test]) f.get(local).simdLoad(PLANES + block * 16);
        f.simd(SIMD.bitselect).simdStore(PLANES + block * 16);
      }
      f.increase(at, OPERATION_BYTES).get(at).get(last).op(OP.i32Ne);
    });
    f.op(OP.end);
    f.get(tree).memory(OP.i32Load, TREE.long).op(OP.if, TYPE.empty);
    f.get(tree).i32(shift).get(groups).call(addLeaves.long);
    f.op(OP.else);
    f.get(tree).i32(shift).get(groups).call(addLeaves.short);
    f.op(OP.end);
    f.get(last).tee(tree).get(end).op(OP.i32LtU);
  });
  return f;
}
