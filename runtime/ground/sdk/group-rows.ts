import type { Input } from '../api/input.js';
import type { StepInput } from '../api/step-input.js';
import { isKnown } from '../api/status.js';

/** Candidates by the value of an expression. */
export interface RowGroups {
  /** By row: the number of its group, from 0; -1 for a row without a value, and for one that the step does not work on. */
  readonly groups: Int32Array;
  /** How many rows of the step have a value. */
  readonly known: number;
  /** How many have none. */
  readonly unknown: number;
}

/** Numbers the different values of a text or number, in the order of the rows. Rows of one value are one group. */
export function groupRows(input: StepInput, by: Input<'text' | 'number'>): RowGroups {
  const { values, status, stride } = input.column(by);
  const groups = new Int32Array(input.count).fill(-1);
  const numbers = new Map<string | number, number>();
  let known = 0;
  for (const row of input.rows) {
    const cell = row * stride;
    const value = values[cell];
    if (!isKnown(status[cell]) || value === undefined) continue;
    let group = numbers.get(value);
    if (group === undefined) numbers.set(value, (group = numbers.size));
    groups[row] = group;
    known++;
  }
  return { groups, known, unknown: input.rows.length - known };
}

/** Whether an input can tell groups apart: one text or one number for each candidate. */
export function isGroupInput(input: Input): input is Input<'text' | 'number'> {
  return input.kind === 'text' || input.kind === 'number';
}
