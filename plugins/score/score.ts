import type { Input, RankingEdit, RuleComponent, RuleReport, StepInput } from '../../runtime/api/plugin.js';
import { isKnown, Status } from '../../runtime/api/status.js';

/** Sets scores; a candidate whose value is absent or not finite keeps the score that it has. */
export class Score implements RuleComponent {
  readonly #value: Input<'number'>;

  constructor(value: Input<'number'>) {
    this.#value = value;
  }

  apply(input: StepInput, { scores }: RankingEdit): RuleReport {
    const { rows } = input;
    const { values, status, stride } = input.column(this.#value);
    let applied = 0;
    for (const row of rows) {
      const value = values[row * stride] ?? NaN;
      if (!isKnown(status[row * stride] ?? Status.absent) || !Number.isFinite(value)) continue;
      scores[row] = value;
      applied++;
    }
    return { applied, skipped: rows.length - applied };
  }
}
