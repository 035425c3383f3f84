import {
  type Bound,
  groupRows,
  type Input,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Bounds how many candidates of one group stand near each other. */
export class Limit implements RuleComponent {
  readonly scoring = 'keeps';
  readonly arranges: 'page' | 'places';
  readonly #by: Input<'text' | 'number'>;
  readonly #most: number;
  readonly #within: Bound['within'];

  constructor(by: Input<'text' | 'number'>, most: number, within: Bound['within']) {
    this.#by = by;
    this.#most = most;
    this.#within = within;
    this.arranges = within === 'page' ? 'page' : 'places';
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { groups, known, unknown } = groupRows(input, this.#by);
    ranking.limit({ groups, most: this.#most, within: this.#within });
    return { applied: known, skipped: unknown };
  }
}
