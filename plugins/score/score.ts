import {
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Sets scores. A candidate keeps its score if the value is absent or not finite. */
export class Score implements RuleComponent {
  readonly scoring = 'sets';
  readonly #value: Input<'number'>;

  constructor(value: Input<'number'>) {
    this.#value = value;
  }

  apply(input: StepInput, { scores }: RankingEdit): RuleReport {
    const { rows } = input;
    const { values, status, stride } = input.column(this.#value);
    let left: number[] | undefined;
    for (const row of rows) {
      const value = values[row * stride] ?? NaN;
      if (!isKnown(status[row * stride]) || !Number.isFinite(value)) (left ??= []).push(row);
      else scores[row] = value;
    }
    if (left === undefined) return { applied: rows.length, skipped: 0 };
    return { applied: rows.length - left.length, skipped: left.length, left };
  }
}
