import {
  atOnce,
  type FeatureComponent,
  type Input,
  inTurns,
  isKnown,
  type Pieces,
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

  constructor(value: Input<'text' | 'texts'>, among: Among) {
    this.#value = value;
    this.#among = among;
  }

  compute(input: StepInput, output: StepOutput): void | Promise<void> {
    const column = input.column(this.#value);
    const work = this.#work(input, output, column);
    // As many texts took long to read, in this turn.
    if (column.kind === 'texts' && column.values.length > PIECE)
      return inTurns(work, () => input.signal.throwIfAborted());
    atOnce(work);
  }

  *#work(input: StepInput, output: StepOutput, column: TextColumn | TextsColumn): Pieces<void> {
    const shares = output.number('share');
    const counts = output.number('count');
    const counted = yield* this.#countAll(input, column);
    let texts = 0;
    for (const row of input.rows) {
      const cell = row * column.stride;
      const status = statusAt(column.status, cell);
      if (!isKnown(status)) {
        shares.status[row] = counts.status[row] = status;
        continue;
      }
      const { start, end } = textsOf(column, cell);
      let count = 0;
      for (let at = start; at < end; at++) count += counted.by.get(column.values[at] ?? '') ?? 0;
      counts.values[row] = count;
      counts.status[row] = Status.present;
      // With only empty lists there is no text at all.
      if (counted.total === 0) shares.status[row] = Status.absent;
      else {
        shares.values[row] = count / counted.total;
        shares.status[row] = Status.present;
      }
      if ((texts += end - start) > PIECE) {
        texts = 0;
        yield;
      }
    }
  }

  /** How often each text occurs, and the number of texts, of all compared candidates. */
  *#countAll(
    { count, rows }: StepInput,
    column: TextColumn | TextsColumn,
  ): Pieces<{ readonly by: ReadonlyMap<string, number>; readonly total: number }> {
    const by = new Map<string, number>();
    let total = 0;
    let texts = 0;
    const size = this.#among === 'all' ? count : rows.length;
    for (let i = 0; i < size; i++) {
      const cell = (this.#among === 'all' ? i : (rows[i] ?? 0)) * column.stride;
      if (!isKnown(column.status[cell])) continue;
      const { start, end } = textsOf(column, cell);
      total += end - start;
      for (let at = start; at < end; at++) {
        const text = column.values[at] ?? '';
        by.set(text, (by.get(text) ?? 0) + 1);
      }
      if ((texts += end - start) > PIECE) {
        texts = 0;
        yield;
      }
    }
    return { by, total };
  }
}

/** Texts that are counted before other work may run: candidates may share a long list. */
const PIECE = 1 << 13;

/** The texts of a cell: one, or those of a list. */
function textsOf(
  column: TextColumn | TextsColumn,
  cell: number,
): { readonly start: number; readonly end: number } {
  if (column.kind === 'text') return { start: cell, end: cell + 1 };
  return { start: column.offsets[cell] ?? 0, end: column.offsets[cell + 1] ?? 0 };
}
