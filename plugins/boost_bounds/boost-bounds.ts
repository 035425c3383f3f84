import {
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

export type Range = readonly [least: number, most: number];

/** Moves scores back into bounds around a base. */
export class BoostBounds implements RuleComponent {
  readonly readsRowsOnly = true;
  readonly scoring = 'changes';
  readonly #base: Input<'number'>;
  readonly #add: Range | undefined;
  readonly #multiply: Range | undefined;

  constructor(base: Input<'number'>, add: Range | undefined, multiply: Range | undefined) {
    this.#base = base;
    this.#add = add;
    this.#multiply = multiply;
  }

  apply(input: StepInput, { scores }: RankingEdit): RuleReport {
    const { values, status, stride } = input.column(this.#base);
    const [down, up] = this.#add ?? [-Infinity, Infinity];
    const [less, more] = this.#multiply ?? [-Infinity, Infinity];
    let applied = 0;
    let skipped = 0;
    for (const row of input.rows) {
      const cell = row * stride;
      const base = values[cell] ?? NaN;
      if (!isKnown(status[cell]) || !Number.isFinite(base)) {
        skipped++;
        continue;
      }
      const before = scores[row] ?? 0;
      // |0| · Infinity is no number: a base of 0 has no bounds by an open factor.
      const scaled = (factor: number): number =>
        Number.isFinite(factor) ? base + Math.abs(base) * (factor - 1) : factor;
      const after = Math.min(Math.max(before, base + down, scaled(less)), base + up, scaled(more));
      if (after === before) continue;
      scores[row] = after;
      applied++;
    }
    return { applied, skipped };
  }
}
