import type { PlannedStep } from '../../compile/plan.js';

/** What is told of a step while a request runs. By default nothing is told. */
export interface StepHandlers {
  /** Called when an effect fails. The error is not reported anywhere else. */
  readonly onEffectError?: ((step: PlannedStep, error: unknown) => void) | undefined;
  /** Called when a component computed for long without a pause: no other request ran meanwhile. */
  readonly onHeld?: ((step: PlannedStep, ms: number) => void) | undefined;
}

/** How long a component may compute without a pause before it is told, in milliseconds. */
export const LONG_MS = 100;

/** Calls a method of a component, and tells if it holds the event loop until it returns. */
export function watched<T>(step: PlannedStep, { onHeld }: StepHandlers, call: () => T): T {
  const began = performance.now();
  try {
    return call();
  } finally {
    const ms = performance.now() - began;
    if (ms > LONG_MS) onHeld?.(step, ms);
  }
}
