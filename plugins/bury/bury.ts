import {
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Places candidates below all others. They keep their scores and their order among themselves. */
export class Bury implements RuleComponent {
  readonly readsRowsOnly = true;
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
      if (!isKnown(status[cell])) skipped++;
      else if (values[cell] !== 0) {
        ranking.bury(row);
        applied++;
      }
    }
    return { applied, skipped };
  }
}
