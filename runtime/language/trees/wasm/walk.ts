import { encodeModule, FunctionWriter, OP, TYPE } from './encoder.js';

/** The number of trees that are walked at the same time. Each walk waits for its loads, so several run side by side. */
export const LANES = 8;

/**
 * A node in the memory. Its children lie side by side. A row goes to the second one if its key, which is at the address
 * `input`, is greater than the node's. A leaf leads to itself.
 */
export const NODE = { key: 0, input: 8, children: 12, bytes: 16 } as const;

/** Compiled once, for the first ensemble. */
let module: WebAssembly.Module | undefined;

/** @returns a function that replaces the addresses of nodes from `at` to `end`, `LANES` at a time, by those of leaves */
export function instantiateWalk(memory: WebAssembly.Memory): (at: number, end: number) => void {
  module ??= new WebAssembly.Module(encodeModule([writeWalk()], { walk: 0 }));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports['walk'] as (at: number, end: number) => void;
}

function writeWalk(): FunctionWriter {
  const f = new FunctionWriter(2);
  const [at, end] = [0, 1];
  const i32 = (): number => f.local(TYPE.i32);
  const [input, open] = [i32(), i32()];
  const lanes = Array.from({ length: LANES }, i32);
  f.loopWhile(() => {
    for (const [i, lane] of lanes.entries())
      f.get(at)
        .memory(OP.i32Load, i * 4)
        .set(lane);
    f.loopWhile(() => {
      f.i32(0).set(open);
      for (const lane of lanes) {
        f.get(lane).memory(OP.i32Load, NODE.input).tee(input).get(open).op(OP.i32Or).set(open);
        f.get(lane).memory(OP.i32Load, NODE.children);
        f.get(input).memory(OP.i64Load, 0).get(lane).memory(OP.i64Load, NODE.key).op(OP.i64GtS);
        f.i32(Math.log2(NODE.bytes)).op(OP.i32Shl, OP.i32Add).set(lane);
      }
      f.get(open);
    });
    for (const [i, lane] of lanes.entries())
      f.get(at)
        .get(lane)
        .memory(OP.i32Store, i * 4);
    f.increase(at, LANES * 4)
      .get(at)
      .get(end)
      .op(OP.i32LtU);
  });
  return f;
}
