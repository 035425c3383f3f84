import type { ColumnShape, FrameLayout } from '../frame/frame-layout.js';

/**
 * Allocates columns for intermediate results. A column is free again as soon as the kernel that reads it is in the
 * list. Other expressions of the plan can then use it, because the kernels of one expression run together. A result
 * has a column of its own: a definition is compiled while the expression that names it is being compiled, and its
 * kernels run first.
 */
export class Scratch {
  static readonly #ofLayout = new WeakMap<FrameLayout, Scratch>();
  readonly #layout: FrameLayout;
  readonly #free = new Map<string, number[]>();

  private constructor(layout: FrameLayout) {
    this.#layout = layout;
  }

  static of(layout: FrameLayout): Scratch {
    let scratch = Scratch.#ofLayout.get(layout);
    if (scratch === undefined) {
      scratch = new Scratch(layout);
      Scratch.#ofLayout.set(layout, scratch);
    }
    return scratch;
  }

  take(shape: ColumnShape): number {
    return this.#free.get(keyOf(shape))?.pop() ?? this.#layout.add(shape);
  }

  release(slot: number): void {
    const shape = this.#layout.columns[slot]?.shape;
    if (shape === undefined) return;
    const key = keyOf(shape);
    const free = this.#free.get(key);
    if (free === undefined) this.#free.set(key, [slot]);
    else free.push(slot);
  }
}

function keyOf(shape: ColumnShape): string {
  return `${shape.kind} ${shape.scope} ${shape.kind === 'vector' ? shape.size : ''}`;
}
