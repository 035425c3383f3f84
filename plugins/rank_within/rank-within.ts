import {
  Distribution,
  type FeatureComponent,
  type Input,
  isKnown,
  type NumberColumn,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import type { Among, Order } from './options.generated.js';

const OUTPUTS = {
  rank: 'number',
  percentile: 'number',
  share: 'number',
  z_score: 'number',
  min_max: 'number',
  median: 'number',
} as const;
const WITH_QUANTILE = { ...OUTPUTS, quantile: 'number' } as const;

/** Compares each candidate's number with those of the others. Candidates without a number do not count. */
export class RankWithin implements FeatureComponent {
  readonly outputs: typeof OUTPUTS;
  readonly #value: Input<'number'>;
  readonly #order: Order;
  readonly #among: Among;
  readonly #quantile: number | undefined;
  /** Scratch memory that all requests share. It is filled and read without an await between. */
  #known = new Float64Array(0);

  constructor(value: Input<'number'>, order: Order, among: Among, quantile?: number) {
    this.#value = value;
    this.#order = order;
    this.#among = among;
    this.#quantile = quantile;
    this.outputs = quantile === undefined ? OUTPUTS : WITH_QUANTILE;
  }

  compute(input: StepInput, output: StepOutput): void {
    const column = input.column(this.#value);
    const ranks = output.number('rank');
    const percentiles = output.number('percentile');
    const shares = output.number('share');
    const zScores = output.number('z_score');
    const minMaxes = output.number('min_max');
    const medians = output.number('median');
    const quantiles = this.#quantile === undefined ? undefined : output.number('quantile');
    const all = this.#distribution(input, column);
    const median = all.quantile(0.5);
    const quantile = all.quantile(this.#quantile ?? NaN);
    for (const row of input.rows) {
      const cell = row * column.stride;
      const status = statusAt(column.status, cell);
      if (!isKnown(status)) {
        ranks.status[row] = percentiles.status[row] = shares.status[row] = status;
        zScores.status[row] = minMaxes.status[row] = medians.status[row] = status;
        if (quantiles !== undefined) quantiles.status[row] = status;
        continue;
      }
      const value = column.values[cell] ?? NaN;
      const below = all.below(value);
      const upTo = all.upTo(value);
      const better = this.#order === 'descending' ? all.count - upTo : below;
      const equal = upTo - below;
      write(ranks, row, 1 + better);
      // A tie counts half, so that percentiles are symmetric for both orders.
      write(percentiles, row, 1 - (better + equal / 2) / all.count);
      write(shares, row, all.share(value));
      write(zScores, row, all.zScore(value));
      write(minMaxes, row, all.minMax(value));
      // A candidate with a number is one of those that have a median.
      medians.values[row] = median;
      medians.status[row] = Status.present;
      if (quantiles !== undefined) write(quantiles, row, quantile);
    }
  }

  #distribution({ count, rows }: StepInput, { values, status, stride }: NumberColumn): Distribution {
    if (this.#known.length < count) this.#known = new Float64Array(count);
    const known = this.#known;
    let length = 0;
    const size = this.#among === 'all' ? count : rows.length;
    for (let i = 0; i < size; i++) {
      const cell = (this.#among === 'all' ? i : (rows[i] ?? 0)) * stride;
      if (isKnown(status[cell])) known[length++] = values[cell] ?? NaN;
    }
    return new Distribution(known.subarray(0, length).sort());
  }
}

/** NaN means that there is no such number, e.g. no z-score if all candidates are equal. */
function write(column: NumberColumn, row: number, value: number): void {
  if (Number.isNaN(value)) column.status[row] = Status.absent;
  else {
    column.values[row] = value;
    column.status[row] = Status.present;
  }
}
