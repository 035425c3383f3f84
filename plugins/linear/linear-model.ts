import {
  type Input,
  isKnown,
  type ModelComponent,
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
        const state = statusAt(status, cell);
        const value = isKnown(state) ? (values[cell] ?? NaN) : missing;
        // The score gets the status of the first missing input.
        if (value === 'absent') unknown(score, row, state);
        else score.values[row] = (score.values[row] ?? NaN) + weight * value;
      }
    }
    for (const row of rows) {
      if (score.status[row] === Status.present && !Number.isFinite(score.values[row])) {
        unknown(score, row, Status.failed);
      }
    }
  }
}

function unknown(column: { values: Float64Array; status: Uint8Array }, row: number, status: number): void {
  column.values[row] = NaN;
  column.status[row] = status;
}
