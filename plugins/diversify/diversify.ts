import type { Input, RankingEdit, RuleComponent, RuleReport, StepInput } from 'millrace/api';
import { likenessOf, type Compared } from './likeness.js';

/** Fills places by maximal marginal relevance. */
export class Diversify implements RuleComponent {
  readonly scoring = 'keeps';
  readonly arranges = 'places';
  readonly #by: Input<Compared>;
  readonly #relevance: number;
  readonly #places: number;
  readonly #window: number | undefined;

  constructor(by: Input<Compared>, relevance: number, places: number, window: number | undefined) {
    this.#by = by;
    this.#relevance = relevance;
    this.#places = places;
    this.#window = window;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { compare, known } = likenessOf(input, this.#by);
    ranking.diversify({
      rows: input.rows,
      relevance: this.#relevance,
      places: this.#places,
      window: this.#window,
      compare,
    });
    return { applied: known, skipped: input.rows.length - known };
  }
}
