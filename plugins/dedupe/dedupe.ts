import {
  groupRows,
  type Input,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Keeps the best candidate of each value. */
export class Dedupe implements RuleComponent {
  readonly scoring = 'keeps';
  readonly removes = true;
  readonly #by: Input<'text' | 'number'>;

  constructor(by: Input<'text' | 'number'>) {
    this.#by = by;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { groups, known, unknown } = groupRows(input, this.#by);
    ranking.keepOne({ groups });
    return { applied: known, skipped: unknown };
  }
}
