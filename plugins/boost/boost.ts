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
  /** A multiple of 0 is 0. */
  readonly scoring: 'changes' | 'keeps';
  readonly #where: Input<'number'> | undefined;
  readonly #change: Change;
  readonly #amount: Amount;

  /** @param where the condition; undefined: every candidate meets it */
  constructor(where: Input<'number'> | undefined, change: Change, amount: Amount) {
    this.#where = where;
    this.scoring = change === 'add' ? 'changes' : 'keeps';
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

/** A multiplication moves a score by its size, so that a factor above 1 raises a negative score too. */
function changed(score: number, change: Change, amount: number): number {
  return change === 'add' ? score + amount : score + Math.abs(score) * (amount - 1);
}
