import { atOnce, soon, type Pieces } from '../core/pieces.js';
import type { Frame } from '../frame/frame.js';
import type { Kernel } from './expression-type.js';

/**
 * Runs kernels in their order. It returns a promise only if they have so much to do that other requests run in between.
 * @param check called before each slice but the first; an error that it throws ends the work
 */
export function runKernels(
  kernels: readonly Kernel[],
  frame: Frame,
  check?: () => void,
): Promise<void> | undefined {
  for (let i = 0; i < kernels.length; i++) {
    const rest = (kernels[i] as Kernel)(frame);
    if (rest === undefined) continue;
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

function* following(first: Pieces<void>, kernels: readonly Kernel[], frame: Frame): Pieces<void> {
  yield* first;
  for (const kernel of kernels) {
    const rest = kernel(frame);
    if (rest !== undefined) yield* rest;
    yield;
  }
}
