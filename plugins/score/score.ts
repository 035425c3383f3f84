import {
  type Account,
  type Input,
  isKnown,
  type Pieces,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Sets scores. A candidate keeps its score if the value is absent or not finite. */
export class Score implements RuleComponent {
  readonly readsRowsOnly = true;
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

  *contributions(
    input: StepInput,
    _output: string,
    reference?: number,
  ): Pieces<readonly (Account | undefined)[]> {
    const { values, status, stride } = input.column(this.#value);
    const valueOf = (row: number): number =>
      isKnown(status[row * stride]) ? (values[row * stride] ?? NaN) : NaN;
    const from = reference === undefined ? 0 : valueOf(reference);
    const accounts: (Account | undefined)[] = [];
    for (const row of input.rows) {
      const amount = valueOf(row) - from;
      const term = { input: this.#value, amount, weight: 1 };
      accounts.push(Number.isFinite(amount) ? { base: 0, terms: [term] } : undefined);
      yield;
    }
    return accounts;
  }
}
