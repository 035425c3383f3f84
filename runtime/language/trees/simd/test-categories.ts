import { FunctionWriter, OP, TYPE } from '../wasm/encoder.js';
import { CATEGORIES, FIRST_PLANE, PLANES, planeShift, type Width } from './memory.js';

/**
 * Writes the function `(feature, end, rows, planes)`. It computes the planes of all sets of categories, which are the
 * first `planes` test planes. Each row sets its bit in the planes of its list.
 */
export function writeTestCategories(width: Width): FunctionWriter {
  const f = new FunctionWriter(4);
  const [feature, end, rows, planes] = [0, 1, 2, 3];
  const i32 = (): number => f.local(TYPE.i32);
  const [row, list, left, bit, from, to] = [i32(), i32(), i32(), i32(), i32(), i32()];
  const shift = planeShift(width);
  f.i32(PLANES + (FIRST_PLANE << shift))
    .i32(0)
    .get(planes)
    .i32(shift)
    .op(OP.i32Shl)
    .fill();
  f.loopWhile(() => {
    f.i32(0).set(row);
    f.loopWhile(() => {
      f.get(feature).memory(OP.i32Load, CATEGORIES.lists).get(row).i32(2).op(OP.i32Shl, OP.i32Add);
      f.memory(OP.i32Load, 0).tee(list).memory(OP.i32Load, 0).tee(left).op(OP.if, TYPE.empty);
      f.i32(1).get(row).i32(4).op(OP.i32ShrU).i32(7).op(OP.i32And, OP.i32Shl).set(bit);
      f.get(row)
        .i32(7)
        .op(OP.i32ShrU)
        .i32(4)
        .op(OP.i32Shl)
        .get(row)
        .i32(15)
        .op(OP.i32And, OP.i32Add)
        .set(from);
      f.loopWhile(() => {
        f.increase(list, 4);
        f.get(list).memory(OP.i32Load, 0).i32(shift).op(OP.i32Shl).get(from).op(OP.i32Add).tee(to);
        f.get(to).memory(OP.i32Load8U, PLANES).get(bit).op(OP.i32Or).memory(OP.i32Store8, PLANES);
        f.get(left).i32(1).op(OP.i32Sub).tee(left);
      });
      f.op(OP.end);
      f.increase(row, 1).get(row).get(rows).op(OP.i32LtU);
    });
    f.increase(feature, CATEGORIES.bytes).get(feature).get(end).op(OP.i32LtU);
  });
  return f;
}
