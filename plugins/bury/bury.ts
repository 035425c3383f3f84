import type { RankingEdit, RuleComponent, RuleReport, StepInput } from '../../runtime/api/plugin.js';
import type { Input } from '../../runtime/api/input.js';
import { isKnown, Status } from '../../runtime/api/status.js';

/** Puts candidates below all others, in the order that they have among themselves; their scores stay. */
export class Bury implements RuleComponent {
  readonly scoring = 'keeps';
  readonly #where: Input<'number'>;

  constructor(where: Input<'number'>) {
    this.#where = where;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { values, status, stride } = input.column(this.#where);
    let applied = 0;
    let skipped = 0;
    for (const row of input.rows) {
      const cell = row * stride;
      if (!isKnown(status[cell] ?? Status.absent)) skipped++;
      else if (values[cell] !== 0) {
        ranking.bury(row);
        applied++;
      }
    }
    return { applied, skipped };
  }
}
