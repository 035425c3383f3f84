import { encodeModule, FunctionWriter, OP, SIMD, TYPE } from './encoder.js';

/**
 * For one row and one node, with two points side by side: the factors of the edges to its left and right child, then what
 * the sums below them give to its feature.
 */
export const BLOCK = { left: 0, right: 16, leftGain: 32, rightGain: 48, bytes: 64 } as const;

/** The bytes of a number for each of two points. */
export const PAIR = 16;

/** Compiled once, for the first explanation. */
let module: WebAssembly.Module | undefined;

/**
 * @returns a function that adds what a row gives to the feature of each node of a tree. At address 0 is a pair for each
 * edge, the first of them 1. From `parent` to `end` is the address of the pair of the edge to each node; then come those of
 * its children. From `block` on are the addresses of the row's blocks, and from `gain` on the pairs that are added to.
 */
export function instantiateShapley(
  memory: WebAssembly.Memory,
): (parent: number, end: number, block: number, gain: number) => void {
  module ??= new WebAssembly.Module(encodeModule([writeShapley()], { add: 0 }));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports['add'] as ReturnType<typeof instantiateShapley>;
}

function writeShapley(): FunctionWriter {
  const f = new FunctionWriter(4);
  const [parent, end, block, gain] = [0, 1, 2, 3];
  const [first, edge, at, left, right] = [
    f.local(TYPE.i32),
    f.local(TYPE.i32),
    f.local(TYPE.i32),
    f.local(TYPE.v128),
    f.local(TYPE.v128),
  ];
  /** Moves to the next node, or to the one before. */
  const move = (nodes: 1 | -1): void => {
    for (const [local, bytes] of [
      [parent, 4],
      [block, 4],
      [gain, PAIR],
      [edge, 2 * PAIR],
    ] as const)
      f.increase(local, nodes * bytes);
  };
  f.get(parent).set(first).i32(PAIR).set(edge);
  // Down: the product of the factors on the path, with the value of the leaf.
  f.loopWhile(() => {
    f.get(parent).memory(OP.i32Load, 0).simdLoad(0).set(left);
    f.get(block).memory(OP.i32Load, 0).set(at);
    for (const [side, factor] of [BLOCK.left, BLOCK.right].entries())
      f.get(edge)
        .get(left)
        .get(at)
        .simdLoad(factor)
        .simd(SIMD.f64x2Mul)
        .simdStore(side * PAIR);
    move(1);
    f.get(parent).get(end).op(OP.i32LtU);
  });
  // Up: the sum of the leaves below.
  f.loopWhile(() => {
    move(-1);
    f.get(edge).simdLoad(0).set(left).get(edge).simdLoad(PAIR).set(right);
    f.get(parent).memory(OP.i32Load, 0).get(left).get(right).simd(SIMD.f64x2Add).simdStore(0);
    f.get(block).memory(OP.i32Load, 0).set(at);
    f.get(gain).get(gain).simdLoad(0);
    f.get(left).get(at).simdLoad(BLOCK.leftGain).simd(SIMD.f64x2Mul).simd(SIMD.f64x2Add);
    f.get(right).get(at).simdLoad(BLOCK.rightGain).simd(SIMD.f64x2Mul).simd(SIMD.f64x2Add).simdStore(0);
    f.get(first).get(parent).op(OP.i32LtU);
  });
  return f;
}
