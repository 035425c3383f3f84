import {
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';
import type { Amount } from './amount.js';
import type { TableChange as Change } from './options.generated.js';

/** Changes the scores of the candidates that meet a condition. */
export class Boost implements RuleComponent {
  readonly readsRowsOnly = true;
  /** A factor leaves a score of 0 as it is. */
  readonly scoring: 'changes' | 'scales';
  readonly #where: Input<'number'> | undefined;
  readonly #change: Change;
  readonly #amount: Amount;

  /** @param where the condition; undefined: all candidates */
  constructor(where: Input<'number'> | undefined, change: Change, amount: Amount) {
    this.#where = where;
    this.scoring = change === 'add' ? 'changes' : 'scales';
    this.#change = change;
    this.#amount = amount;
  }

  apply(input: StepInput, { scores }: RankingEdit): RuleReport {
    const where = this.#where === undefined ? undefined : input.column(this.#where);
    const amountOf = this.#amount(input);
    let applied = 0;
    let skipped = 0;
    for (const row of input.rows) {
      if (where !== undefined) {
        const cell = row * where.stride;
        if (!isKnown(where.status[cell])) {
          skipped++;
          continue;
        }
        if (where.values[cell] === 0) continue;
      }
      const amount = amountOf(row);
      if (amount === undefined) continue;
      const score = changed(scores[row] ?? 0, this.#change, amount);
      if (Number.isFinite(score)) {
        scores[row] = score;
        applied++;
      } else skipped++;
    }
    return { applied, skipped };
  }
}

/** Multiplication adds a part of the score's absolute value, so a factor above 1 also raises a negative score. */
function changed(score: number, change: Change, amount: number): number {
  return change === 'add' ? score + amount : score + Math.abs(score) * (amount - 1);
}
