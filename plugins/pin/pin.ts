import type { RankingEdit, RuleComponent, RuleReport, StepInput } from 'millrace/api';

/** Pins candidates to positions. An id that is not a candidate, or is outside the rows of the step, is ignored. */
export class Pin implements RuleComponent {
  readonly scoring = 'keeps';
  readonly #positions: ReadonlyMap<string, number>;

  /** @param positions candidate id → 1-based position of the whole ranking */
  constructor(positions: ReadonlyMap<string, number>) {
    this.#positions = positions;
  }

  apply(input: StepInput, ranking: RankingEdit): RuleReport {
    let applied = 0;
    for (const [id, position] of this.#positions) {
      const row = ranking.rowOf(id);
      if (row === undefined || !contains(input.rows, row)) continue;
      ranking.pin(row, position);
      applied++;
    }
    return { applied, skipped: 0 };
  }
}

/** A binary search, because rows ascend. */
function contains(rows: Int32Array, row: number): boolean {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? row) < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row;
}
