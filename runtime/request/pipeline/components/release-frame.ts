import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { StepReport } from './run-components.js';

/**
 * Returns the frame of an answered request to the pool. A failed step, also a skipped one, may still write to the frame, so
 * the frame is then dropped. An effect may read the frame after the answer is sent, so the release waits for it.
 */
export function releaseFrame(plan: Plan, frame: Frame, steps: readonly StepReport[]): void {
  if (steps.some(({ outcome }) => outcome === 'failed')) return;
  const pending = steps.flatMap(({ pending: effect }) => effect ?? []);
  if (pending.length === 0) plan.frames.release(frame);
  else void Promise.all(pending).then(() => plan.frames.release(frame));
}
