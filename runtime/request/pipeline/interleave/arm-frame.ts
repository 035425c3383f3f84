import type { SharedRun } from '../../experiments/shared-run.js';
import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';

/**
 * Lets the frame of an arm use the columns of control that both arms share. The arm only reads them. Params of the arm
 * get their values.
 * @param isEmpty whether the arm read nothing itself
 * @returns gives the columns back, and the frame to its pool. Nothing may use the frame afterwards
 */
export function shareColumns(
  plan: Plan,
  { columns, histories }: SharedRun,
  control: Frame,
  frame: Frame,
  isEmpty: boolean,
): () => void {
  const own = frame.columns.slice();
  for (const pair of columns) {
    const column = control.columns[pair[1]];
    if (column !== undefined) frame.columns[pair[0]] = column;
  }
  if (isEmpty) {
    for (const [index, from] of histories) frame.histories[index] = control.histories[from];
    frame.eventsSince = control.eventsSince;
    frame.preview = control.preview;
    frame.rules = plan.wider?.rules;
  }
  frame.requestId = control.requestId;
  frame.salt = control.salt;
  setParams(plan, frame);
  return () => {
    for (let slot = 0; slot < own.length; slot++) {
      const column = own[slot];
      if (column !== undefined) frame.columns[slot] = column;
    }
    plan.frames.release(frame);
  };
}

/** Writes the values of the params that can change. */
export function setParams({ open }: Plan, frame: Frame): void {
  if (open === undefined) return;
  for (const { slot, value } of open.set) frame.number(slot).values[0] = value;
}
