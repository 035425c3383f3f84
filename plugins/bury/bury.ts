import {
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

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
      if (!isKnown(status[cell])) skipped++;
      else if (values[cell] !== 0) {
        ranking.bury(row);
        applied++;
      }
    }
    return { applied, skipped };
  }
}
