import {
  type FeatureComponent,
  type Input,
  isKnown,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import type { Vocabulary } from './vocabulary.js';

/** Computes the code of each candidate's text. */
export class CategoryIndex implements FeatureComponent {
  readonly readsRowsOnly = true;
  readonly outputs = { code: 'number' } as const;
  readonly #of: Input<'text'>;
  readonly #codes: Vocabulary;
  readonly #unknown: number | undefined;

  /** @param unknown the code of texts that are not in the vocabulary; undefined: they have no code */
  constructor(of: Input<'text'>, codes: Vocabulary, unknown: number | undefined) {
    this.#of = of;
    this.#codes = codes;
    this.#unknown = unknown;
  }

  compute(input: StepInput, output: StepOutput): void {
    const { values, status, stride } = input.column(this.#of);
    const codes = output.number('code');
    for (const row of input.rows) {
      const cell = row * stride;
      const state = statusAt(status, cell);
      if (!isKnown(state)) {
        codes.status[row] = state;
        continue;
      }
      const code = this.#codes.get(values[cell] ?? '') ?? this.#unknown;
      if (code === undefined) continue;
      codes.values[row] = code;
      codes.status[row] = Status.present;
    }
  }
}
