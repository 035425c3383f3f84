import {
  type FixedPlace,
  type Input,
  isKnown,
  type RankingEdit,
  type RuleComponent,
  type RuleReport,
  type StepInput,
} from 'millrace/api';

/** Reserves positions for the candidates that meet a condition. */
export class ReservedPositions implements RuleComponent {
  readonly scoring = 'keeps';
  readonly places: readonly FixedPlace[];
  readonly #positions: readonly number[];
  readonly #where: Input<'number'>;
  readonly #least: number;

  constructor(positions: readonly number[], where: Input<'number'>, least = -Infinity) {
    this.places = positions.map((position, index) => ({ position, option: ['positions', index] }));
    this.#positions = positions;
    this.#where = where;
    this.#least = least;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    const { values, status, stride } = input.column(this.#where);
    const rows = new Int32Array(input.rows.length);
    let applied = 0;
    let skipped = 0;
    for (const row of input.rows) {
      const cell = row * stride;
      if (!isKnown(status[cell])) skipped++;
      else if (values[cell] !== 0) rows[applied++] = row;
    }
    ranking.reserve({ positions: this.#positions, rows: rows.subarray(0, applied), least: this.#least });
    return { applied, skipped };
  }
}
