import {
  type FeatureComponent,
  type Input,
  isKnown,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
  type TextColumn,
  type TextsColumn,
} from 'millrace/api';
import type { Among } from './options.generated.js';

/** Counts the texts of the candidates. Candidates whose text is not known do not count. */
export class ShareWithin implements FeatureComponent {
  readonly outputs = { share: 'number', count: 'number' } as const;
  readonly #value: Input<'text' | 'texts'>;
  readonly #among: Among;
  /** The number of times that each text occurs. All requests share it; it is filled and read without an await between. */
  readonly #counts = new Map<string, number>();

  constructor(value: Input<'text' | 'texts'>, among: Among) {
    this.#value = value;
    this.#among = among;
  }

  compute(input: StepInput, output: StepOutput): void {
    const column = input.column(this.#value);
    const shares = output.number('share');
    const counts = output.number('count');
    const total = this.#countAll(input, column);
    for (const row of input.rows) {
      const cell = row * column.stride;
      const status = statusAt(column.status, cell);
      if (!isKnown(status)) {
        shares.status[row] = counts.status[row] = status;
        continue;
      }
      const count = this.#countOf(column, cell);
      counts.values[row] = count;
      counts.status[row] = Status.present;
      // With only empty lists there is no text at all.
      if (total === 0) shares.status[row] = Status.absent;
      else {
        shares.values[row] = count / total;
        shares.status[row] = Status.present;
      }
    }
    this.#counts.clear();
  }

  /** Returns the number of texts of all compared candidates. */
  #countAll({ count, rows }: StepInput, column: TextColumn | TextsColumn): number {
    this.#counts.clear();
    let total = 0;
    const size = this.#among === 'all' ? count : rows.length;
    for (let i = 0; i < size; i++) {
      const cell = (this.#among === 'all' ? i : (rows[i] ?? 0)) * column.stride;
      if (!isKnown(column.status[cell])) continue;
      const { start, end } = textsOf(column, cell);
      total += end - start;
      for (let at = start; at < end; at++) {
        const text = column.values[at] ?? '';
        this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
      }
    }
    return total;
  }

  /** How often the texts of a cell occur, summed. */
  #countOf(column: TextColumn | TextsColumn, cell: number): number {
    const { start, end } = textsOf(column, cell);
    let sum = 0;
    for (let at = start; at < end; at++) sum += this.#counts.get(column.values[at] ?? '') ?? 0;
    return sum;
  }
}

/** The texts of a cell: one, or those of a list. */
function textsOf(
  column: TextColumn | TextsColumn,
  cell: number,
): { readonly start: number; readonly end: number } {
  if (column.kind === 'text') return { start: cell, end: cell + 1 };
  return { start: column.offsets[cell] ?? 0, end: column.offsets[cell + 1] ?? 0 };
}
