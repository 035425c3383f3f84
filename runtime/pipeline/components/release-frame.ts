import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../frame/frame.js';
import type { StepReport } from './run-components.js';

/**
 * Gives the frame of an answered request back to the pool. Only a frame that no step can still write to goes back: after
 * an error, also one that was skipped, the frame is dropped. An effect may read the frame after the answer is given.
 */
export function releaseFrame(plan: Plan, frame: Frame, steps: readonly StepReport[]): void {
  if (steps.some(({ outcome }) => outcome === 'failed')) return;
  const pending = steps.flatMap(({ pending: effect }) => effect ?? []);
  if (pending.length === 0) plan.frames.release(frame);
  else void Promise.all(pending).then(() => plan.frames.release(frame));
}
