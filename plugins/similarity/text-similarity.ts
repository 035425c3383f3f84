import {
  atOnce,
  type FeatureComponent,
  type Input,
  inTurns,
  type Pieces,
  Status,
  type StepInput,
  type StepOutput,
  type TextsColumn,
} from 'millrace/api';
import { statusOfPair } from './cell-pairs.js';

/**
 * Compares two lists of texts as sets. Duplicates count once. An empty text does not count: it may be an unknown
 * element.
 */
export class TextSimilarity implements FeatureComponent {
  readonly readsRowsOnly = true;
  readonly outputs = { jaccard: 'number', overlap: 'number', shared: 'number' } as const;
  readonly #a: Input<'texts'>;
  readonly #b: Input<'texts'>;

  constructor(a: Input<'texts'>, b: Input<'texts'>) {
    this.#a = a;
    this.#b = b;
  }

  compute(input: StepInput, output: StepOutput): void | Promise<void> {
    const first = input.column(this.#a);
    const second = input.column(this.#b);
    const work = this.#work(input, output, first, second);
    // As many texts took long to read, in this turn.
    if (first.values.length + second.values.length > PIECE)
      return inTurns(work, () => input.signal.throwIfAborted());
    atOnce(work);
  }

  *#work(input: StepInput, output: StepOutput, first: TextsColumn, second: TextsColumn): Pieces<void> {
    // If only one of the two is of the request, it is `one`: its set is made once.
    const [one, other] = first.stride === 0 ? [first, second] : [second, first];
    const jaccard = output.number('jaccard');
    const overlap = output.number('overlap');
    const shared = output.number('shared');
    const inOne = new LatestSet();
    const inOther = new LatestSet();
    let texts = 0;
    for (const row of input.rows) {
      const status = statusOfPair(first, second, row);
      jaccard.status[row] = overlap.status[row] = shared.status[row] = status;
      if (status !== Status.present) continue;
      inOne.fill(one, row * one.stride);
      inOther.fill(other, row * other.stride, inOne);
      const common = inOther.shared;
      const union = inOne.size + inOther.size - common;
      const smaller = Math.min(inOne.size, inOther.size);
      shared.values[row] = common;
      // Without texts the ratio is undefined.
      if (union > 0) jaccard.values[row] = common / union;
      else jaccard.status[row] = Status.absent;
      if (smaller > 0) overlap.values[row] = common / smaller;
      else overlap.status[row] = Status.absent;
      if ((texts += inOther.size) > PIECE) {
        texts = 0;
        yield;
      }
    }
  }
}

/** Texts that are compared before other work may run: candidates may share a long list. */
const PIECE = 1 << 13;

/** The set of one cell at a time. Moving to another cell clears nothing and allocates nothing. */
class LatestSet {
  size = 0;
  /** The number of its texts that are in the set given as `beside`. */
  shared = 0;
  #cell = -1;
  /** By text: the last cell that had it. */
  readonly #cells = new Map<string, number>();

  /** Fills the set with the texts of a cell, unless it already holds that cell. */
  fill(column: TextsColumn, cell: number, beside?: LatestSet): void {
    if (this.#cell === cell) return;
    this.#cell = cell;
    this.size = this.shared = 0;
    const end = column.offsets[cell + 1] ?? 0;
    for (let i = column.offsets[cell] ?? 0; i < end; i++) {
      const text = column.values[i] ?? '';
      if (text === '' || this.has(text)) continue;
      this.#cells.set(text, cell);
      this.size++;
      if (beside?.has(text) === true) this.shared++;
    }
  }

  has(text: string): boolean {
    return this.#cells.get(text) === this.#cell;
  }
}
