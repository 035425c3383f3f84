import { type FilterComponent, type Input, isKnown, type Selection, type StepInput } from 'millrace/api';
import type { Absent } from './options.generated.js';

/** Takes out the candidates whose condition is false; what happens to those where it is absent is declared. */
export class Filter implements FilterComponent {
  readonly #keep: Input<'number'>;
  readonly #absent: Absent;

  constructor(keep: Input<'number'>, absent: Absent) {
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
