import {
  groupRows,
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Shows one variant of each group. */
export class Group implements RuleComponent {
  readonly scoring = 'keeps';
  readonly removes = true;
  readonly #by: Input<'text' | 'number'>;
  readonly #show: Input<'number'> | undefined;

  /** @param show the variant with the highest number is shown; undefined: the best one */
  constructor(by: Input<'text' | 'number'>, show: Input<'number'> | undefined) {
    this.#by = by;
    this.#show = show;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { groups, known, unknown } = groupRows(input, this.#by);
    if (this.#show === undefined) ranking.keepOne({ groups });
    else {
      const { values, status, stride } = input.column(this.#show);
      const prefer = new Float64Array(input.count).fill(NaN);
      for (const row of input.rows)
        if (isKnown(status[row * stride])) prefer[row] = values[row * stride] ?? NaN;
      ranking.keepOne({ groups, prefer });
    }
    return { applied: known, skipped: unknown };
  }
}
