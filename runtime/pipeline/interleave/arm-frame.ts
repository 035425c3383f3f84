import type { SharedRun } from '../../experiments/shared-run.js';
import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../frame/frame.js';
import { setParams } from '../request/open-request.js';

/** The frame of the second arm, which uses columns of the frame of control. */
export interface ArmFrame {
  readonly frame: Frame;
  /** Gives the columns back, and the frame to its pool. Nothing may use the frame afterwards. */
  release(): void;
}

/**
 * Opens the frame of an arm. The arm only reads the columns that are not its own.
 * @param read the frame with what the arm reads itself; undefined: control read everything
 */
export function openArmFrame(
  plan: Plan,
  { columns, histories }: SharedRun,
  control: Frame,
  read: Frame | undefined,
): ArmFrame {
  const frame = read ?? plan.frames.acquire(control.count, control.now);
  const own = frame.columns.slice();
  for (const [slot, from] of columns) {
    const column = control.columns[from];
    if (column !== undefined) frame.columns[slot] = column;
  }
  if (read === undefined) {
    for (const [index, from] of histories) frame.histories[index] = control.histories[from];
    frame.eventsSince = control.eventsSince;
    frame.eventNumbers = control.eventNumbers;
    frame.rulesAt = control.rulesAt;
  }
  setParams(plan, frame);
  return {
    frame,
    release: () => {
      for (const [slot, column] of own.entries()) frame.columns[slot] = column;
      plan.frames.release(frame);
    },
  };
}
