import { dependenceOf } from '../compile/dependence.js';
import type { Plan } from '../compile/plan.js';

/** What the second arm of a request takes from control, so that it runs only what differs. */
export interface SharedRun {
  /** Whether control reads everything from the store that the arm needs. */
  readonly hasReads: boolean;
  /** The columns that both arms use: slots of the arm and of control. */
  readonly columns: readonly (readonly [own: number, control: number])[];
  /** By slot of the arm: 1 if the column is that of control. */
  readonly isShared: Uint8Array;
  /** The histories that both arms use: indexes of the arm and of control. */
  readonly histories: readonly (readonly [own: number, control: number])[];
  /** Index of the first step that differs, in both plans. The steps before it run once. */
  readonly first: number;
  /** Whether the arm runs the step again, by its index. */
  readonly runs: readonly boolean[];
}

/** What an arm with other params shares: every column and step that does not depend on them. */
export function sharedByParams(plan: Plan, params: Iterable<string>): SharedRun {
  const { layout, steps, open, definitions } = plan;
  const { again, depends } = dependenceOf(plan, params);
  const own = new Set<number>(open?.slots.values());
  for (const { name, slot } of definitions) if (depends(name)) own.add(slot);
  for (const { outputs, computes } of again) {
    for (const slot of outputs.values()) own.add(slot);
    for (const { slot } of computes) own.add(slot);
  }
  const [firstStep] = again;
  const first = firstStep === undefined ? steps.length : steps.indexOf(firstStep);
  for (const { when } of steps.slice(first)) if (when?.computes !== undefined) own.add(when.slot);
  const score = layout.columns.findIndex(({ name }) => name === 'score');
  if (score !== -1) own.add(score);
  const columns = layout.columns.flatMap((_, slot) => (own.has(slot) ? [] : [[slot, slot] as const]));
  return {
    hasReads: true,
    columns,
    isShared: sharedSlots(plan, columns),
    histories: Array.from({ length: historiesOf(plan) }, (_, index) => [index, index] as const),
    first,
    runs: steps.map((step) => again.includes(step)),
  };
}

/** As `sharedByParams`, if rules of curation added columns to both plans: no param changes these. */
export function withAdded(shared: SharedRun, plan: Plan): SharedRun {
  const { length } = shared.isShared;
  const added = Array.from(
    { length: plan.layout.columns.length - length },
    (_, at) => [length + at, length + at] as const,
  );
  const columns = [...shared.columns, ...added];
  return { ...shared, columns, isShared: sharedSlots(plan, columns) };
}

/** By slot of the arm: 1 if it is among the columns. */
export function sharedSlots({ layout }: Plan, columns: SharedRun['columns']): Uint8Array {
  const isShared = new Uint8Array(layout.columns.length);
  for (const [slot] of columns) isShared[slot] = 1;
  return isShared;
}

function historiesOf({ levels }: Plan): number {
  return levels.reduce((sum, { histories }) => sum + histories.length, 0);
}
