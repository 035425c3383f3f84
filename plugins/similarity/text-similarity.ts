import {
  type FeatureComponent,
  type Input,
  Status,
  type StepInput,
  type StepOutput,
  type TextsColumn,
} from 'millrace/api';
import { statusOfPair } from './cell-pairs.js';

/**
 * How much two lists of texts have in common, as sets. A text that is there twice counts once; an empty one, which
 * may stand for an element that is not known, does not count.
 */
export class TextSimilarity implements FeatureComponent {
  readonly outputs = { jaccard: 'number', overlap: 'number', shared: 'number' } as const;
  readonly #a: Input<'texts'>;
  readonly #b: Input<'texts'>;

  constructor(a: Input<'texts'>, b: Input<'texts'>) {
    this.#a = a;
    this.#b = b;
  }

  compute(input: StepInput, output: StepOutput): void {
    const first = input.column(this.#a);
    const second = input.column(this.#b);
    // Where only one of the two is of the request, it is `one`: its set is made once.
    const [one, other] = first.stride === 0 ? [first, second] : [second, first];
    const jaccard = output.number('jaccard');
    const overlap = output.number('overlap');
    const shared = output.number('shared');
    const inOne = new LatestSet();
    const inOther = new LatestSet();
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
      // Where nothing can be shared, its share is no number.
      if (union > 0) jaccard.values[row] = common / union;
      else jaccard.status[row] = Status.absent;
      if (smaller > 0) overlap.values[row] = common / smaller;
      else overlap.status[row] = Status.absent;
    }
  }
}

/** The set of one cell at a time; moving on to another clears nothing and allocates nothing. */
class LatestSet {
  size = 0;
  /** How many of its texts are in the set that it was filled beside. */
  shared = 0;
  #cell = -1;
  /** The cell that last had a text. */
  readonly #cells = new Map<string, number>();

  /** Takes in the texts of a cell, unless it holds them already. */
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
