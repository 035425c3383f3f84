import { type FilterComponent, type Input, isKnown, type Selection, type StepInput } from 'millrace/api';
import type { Absent } from './options.generated.js';

/** Removes the candidates whose condition is false. An option says what happens if the condition is absent. */
export class Filter implements FilterComponent {
  readonly readsRowsOnly = true;
  readonly condition: { readonly input: Input<'number'>; readonly absent: Absent };
  readonly #keep: Input<'number'>;
  readonly #absent: Absent;

  constructor(keep: Input<'number'>, absent: Absent) {
    this.condition = { input: keep, absent };
    this.#keep = keep;
    this.#absent = absent;
  }

  select(input: StepInput): Selection {
    const { values, status, stride } = input.column(this.#keep);
    const removed: number[] = [];
    let undecided = 0;
    for (const row of input.rows) {
      const cell = row * stride;
      if (isKnown(status[cell])) {
        if (values[cell] === 0) removed.push(row);
      } else if (this.#absent === 'drop') removed.push(row);
      else undecided++;
    }
    return { removed, reason: `not: ${this.#keep.text}`, undecided };
  }
}
