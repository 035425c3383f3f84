import { atOnce, soon, type Pieces } from '../../ground/core/pieces.js';
import type { Frame } from '../frame/frame.js';
import type { Kernel } from './expression-type.js';

/** The kernels that run between two looks at the clock. */
const CLOCKED = 4;
/** How long kernels run before the others wait, in milliseconds. */
const BUDGET_MS = 2;

/**
 * Runs kernels in their order. It returns a promise only if they have so much to do that other requests run in between.
 * @param check called before each slice but the first; an error that it throws ends the work
 */
export function runKernels(
  kernels: readonly Kernel[],
  frame: Frame,
  check?: () => void,
): Promise<void> | undefined {
  let until = Infinity;
  for (let i = 0; i < kernels.length; i++) {
    let rest = (kernels[i] as Kernel)(frame);
    if (rest === undefined) {
      // Nearly all kernels take less time than a look at the clock.
      if (i % CLOCKED !== CLOCKED - 1) continue;
      const now = performance.now();
      if (now < until) {
        if (until === Infinity) until = now + BUDGET_MS;
        continue;
      }
      rest = nothing();
    }
    const running = soon(following(rest, kernels.slice(i + 1), frame), check);
    return running instanceof Promise ? running : undefined;
  }
  return undefined;
}

/** Runs kernels where nothing can wait: in commands, for values that were logged, and when a plan is made. */
export function runKernelsAtOnce(kernels: readonly Kernel[], frame: Frame): void {
  for (const kernel of kernels) {
    const rest = kernel(frame);
    if (rest !== undefined) atOnce(rest);
  }
}

function* nothing(): Pieces<void> {
  yield;
}

function* following(first: Pieces<void>, kernels: readonly Kernel[], frame: Frame): Pieces<void> {
  yield* first;
  for (const kernel of kernels) {
    const rest = kernel(frame);
    if (rest !== undefined) yield* rest;
    yield;
  }
}
