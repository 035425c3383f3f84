import {
  type Account,
  type AccountTerm,
  type Input,
  isKnown,
  type ModelComponent,
  type Pieces,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import type { Missing } from './options.generated.js';

export interface Term {
  readonly input: Input<'number'>;
  readonly weight: number;
  readonly missing: Missing;
}

/** bias + Σ weight · input, added in the order of the terms. */
export class LinearModel implements ModelComponent {
  readonly readsRowsOnly = true;
  readonly outputs = { score: 'number' } as const;
  readonly #terms: readonly Term[];
  readonly #bias: number;
  readonly version?: string;

  /** @param version the version of the file with the weights */
  constructor(terms: readonly Term[], bias: number, version?: string) {
    this.#terms = terms;
    this.#bias = bias;
    if (version !== undefined) this.version = version;
  }

  compute(input: StepInput, output: StepOutput): void {
    const { rows } = input;
    const score = output.number('score');
    for (const row of rows) {
      score.values[row] = this.#bias;
      score.status[row] = Status.present;
    }
    for (const { input: term, weight, missing } of this.#terms) {
      const { values, status, stride } = input.column(term);
      for (const row of rows) {
        if (score.status[row] !== Status.present) continue;
        const cell = row * stride;
        const value = isKnown(status[cell]) ? (values[cell] ?? NaN) : missing;
        // The score gets the status of the first missing input.
        if (value === 'absent') unknown(score, row, statusAt(status, cell));
        else score.values[row] = (score.values[row] ?? NaN) + weight * value;
      }
    }
    for (const row of rows) {
      if (score.status[row] === Status.present && !Number.isFinite(score.values[row])) {
        unknown(score, row, Status.failed);
      }
    }
  }

  *contributions(
    input: StepInput,
    _output: string,
    reference?: number,
  ): Pieces<readonly (Account | undefined)[]> {
    const accounts: (Account | undefined)[] = [];
    for (const row of input.rows) {
      const terms = this.#terms.map((term) => divided(term, input, row, reference));
      const base = reference === undefined ? this.#bias : 0;
      accounts.push(terms.some(({ amount }) => Number.isNaN(amount)) ? undefined : { base, terms });
      yield;
    }
    return accounts;
  }
}

/** What a term adds for a row, or adds more than for the reference. NaN: the model has no value. */
function divided(
  { input, weight, missing }: Term,
  step: StepInput,
  row: number,
  reference: number | undefined,
): AccountTerm {
  const { values, status, stride } = step.column(input);
  const valueOf = (of: number): number => {
    if (isKnown(status[of * stride])) return values[of * stride] ?? NaN;
    return missing === 'absent' ? NaN : missing;
  };
  const value = valueOf(row) - (reference === undefined ? 0 : valueOf(reference));
  const isRead = [row, reference ?? row].every((one) => isKnown(status[one * stride]));
  return { input, amount: weight * value, ...(isRead ? { weight } : {}) };
}

function unknown(column: { values: Float64Array; status: Uint8Array }, row: number, status: number): void {
  column.values[row] = NaN;
  column.status[row] = status;
}
