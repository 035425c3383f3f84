import type { EntityIdentifier } from '../../api/identifiers.js';
import type { RankingEdit } from '../../api/plugin.js';
import type { Frame } from '../../frame/frame.js';
import { bestRows } from './best-rows.js';

/** Added to the tier of a buried row. The result is lower in the ranking than every tier that `top:` makes. */
const BURIED = 1 << 20;

/**
 * The ranking while the steps of a request run: the remaining candidates, their scores, and the constraints on their
 * order. Rows are ordered by tier, then by descending score, then by input order. Pins are applied last. Scores are never
 * changed to produce a position.
 */
export class Ranking {
  #scores: Float64Array;
  /** Position by row. */
  readonly #pins = new Map<number, number>();
  readonly #frame: Frame;
  readonly #ids: readonly string[];
  #rows: Int32Array;
  /** By row: 0 after a filter removed it. */
  readonly #kept: Uint8Array;
  #rowOf: Map<string, number> | undefined;

  constructor(
    frame: Frame,
    readonly candidateType: string,
    ids: readonly string[],
  ) {
    this.#frame = frame;
    this.#ids = ids;
    this.#scores = frame.scores.subarray(0, frame.count);
    this.#rows = new Int32Array(frame.count);
    for (let row = 0; row < frame.count; row++) this.#rows[row] = row;
    this.#kept = new Uint8Array(frame.count).fill(1);
  }

  /** By row. */
  get scores(): Float64Array {
    return this.#scores;
  }

  /** By row. */
  get tiers(): Int32Array {
    return this.#frame.tiers;
  }

  /** Rows that no filter removed, in input order. */
  get rows(): Int32Array {
    return this.#rows;
  }

  candidate(row: number): EntityIdentifier {
    const id = this.#ids[row];
    if (id === undefined) throw new RangeError(`no candidate in row ${row}`);
    return { type: this.candidateType, id };
  }

  /** @throws RangeError if a row does not exist; then no row is removed */
  remove(rows: readonly number[]): void {
    for (const row of rows) this.#checkRow(row);
    for (const row of rows) {
      this.#kept[row] = 0;
      this.#pins.delete(row);
    }
    this.#rows = this.#rows.filter((row) => this.#kept[row] === 1);
  }

  bury(row: number): void {
    this.#checkRow(row);
    const tier = this.#frame.tiers[row];
    if (tier !== undefined && tier < BURIED) this.#frame.tiers[row] = tier + BURIED;
  }

  /** A later pin of the same row, or to the same position, replaces the earlier pin. A removed row is not pinned. */
  pin(row: number, position: number): void {
    if (!Number.isInteger(position) || position < 1)
      throw new RangeError(`a position is a whole number from 1, not ${position}`);
    this.#checkRow(row);
    if (this.#kept[row] !== 1) return;
    for (const [other, taken] of this.#pins) if (taken === position) this.#pins.delete(other);
    this.#pins.set(row, position);
  }

  #checkRow(row: number): void {
    if (this.#kept[row] === undefined) throw new RangeError(`there is no row ${String(row)}`);
  }

  rowOf(id: string): number | undefined {
    this.#rowOf ??= new Map(this.#ids.map((known, row) => [known, row]));
    return this.#rowOf.get(id);
  }

  /** The best `most` rows, best first. It ignores pins. */
  order(most = this.#rows.length): Int32Array {
    return bestRows(this.#rows, this.#frame.scores, this.#frame.tiers, most);
  }

  /** Moves all other rows below the `top` best ones. @returns the best rows, ascending */
  scopeTo(top: number): Int32Array {
    if (top >= this.#rows.length) return this.#rows;
    const best = this.order(top).sort();
    let next = 0;
    for (const row of this.#rows) {
      if (best[next] === row) next++;
      else this.#frame.tiers[row] = (this.#frame.tiers[row] ?? 0) + 1;
    }
    return best;
  }

  /** A copy of everything that a step may change, to undo a failed step. */
  snapshot(): RankingSnapshot {
    const { scores, tiers, count } = this.#frame;
    return { scores: scores.slice(0, count), tiers: tiers.slice(0, count), pins: [...this.#pins] };
  }

  /** Undoes a step. The arrays of the snapshot replace the old ones, to which the failed step may still write. */
  restore({ scores, tiers, pins }: RankingSnapshot): void {
    this.#frame.scores = this.#scores = scores;
    this.#frame.tiers = tiers;
    this.#pins.clear();
    for (const [row, position] of pins) this.#pins.set(row, position);
  }

  /** A copy of the whole state, to run the same steps several times. */
  keep(): KeptRanking {
    return { ...this.snapshot(), rows: this.#rows, kept: this.#kept.slice() };
  }

  /** Returns to a kept state, which can be used again. */
  reset({ scores, tiers, pins, rows, kept }: KeptRanking): void {
    this.#frame.scores.set(scores);
    this.#frame.tiers.set(tiers);
    this.#scores = this.#frame.scores.subarray(0, this.#frame.count);
    this.#pins.clear();
    for (const [row, position] of pins) this.#pins.set(row, position);
    this.#rows = rows;
    this.#kept.set(kept);
  }

  /**
   * The rows of the final order from rank `start` (inclusive) to `end` (exclusive), 0-based, with their answered scores.
   *
   * Answered scores never increase down the ranking. The answered score equals the score unless a rule moved the
   * candidate. A pinned candidate gets an answered score between those of its neighbours. A candidate that `top:` or
   * `bury` moved down gets an answered score that is not above those of the candidates before it.
   */
  slice(start: number, end: number): RankedRow[] {
    const answered: RankedRow[] = [];
    this.#walk(end, (rank, row, score) => {
      if (rank >= start) answered.push({ row, score });
    });
    return answered;
  }

  /**
   * Writes the place of each row in the final order, from 1, and its answered score. A removed row gets the place 0 and
   * the score NaN.
   */
  placeAll(places: Int32Array, answered: Float64Array): void {
    places.fill(0, 0, this.#frame.count);
    answered.fill(NaN, 0, this.#frame.count);
    this.#walk(this.#rows.length, (rank, row, score) => {
      places[row] = rank + 1;
      answered[row] = score;
    });
  }

  /** The positions of the pinned rows, by row. */
  get pins(): ReadonlyMap<number, number> {
    return this.#pins;
  }

  /** Calls `visit` for each rank of the final order before `end`. */
  #walk(end: number, visit: (rank: number, row: number, score: number) => void): void {
    const total = this.#rows.length;
    const stop = Math.min(end, total);
    const pinned = this.#positions(total);
    const free = this.#free(stop, pinned.size);
    let next = 0;
    let ceiling = Infinity;
    for (let rank = 0; rank < stop; rank++) {
      const pin = pinned.get(rank + 1);
      const row = pin ?? free[next++];
      if (row === undefined) break;
      const below = free[next];
      const floor = pin === undefined || below === undefined ? -Infinity : (this.scores[below] ?? -Infinity);
      const score = Math.min(ceiling, Math.max(floor, this.scores[row] ?? 0));
      ceiling = score;
      visit(rank, row, score);
    }
  }

  /** The best unpinned rows, one more than needed up to rank `stop`. */
  #free(stop: number, pins: number): Int32Array {
    const best = this.order(Math.min(this.#rows.length, stop + pins + 1));
    return pins === 0 ? best : best.filter((row) => !this.#pins.has(row));
  }

  /** Pinned rows by exact position. A position past the end becomes the last free position. */
  #positions(total: number): Map<number, number> {
    const positions = new Map<number, number>();
    const past: { row: number; position: number }[] = [];
    for (const [row, position] of this.#pins) {
      if (position <= total) positions.set(position, row);
      else past.push({ row, position });
    }
    past.sort((a, b) => b.position - a.position);
    let last = total;
    for (const { row } of past) {
      while (positions.has(last)) last--;
      positions.set(last, row);
    }
    return positions;
  }
}

export interface RankedRow {
  readonly row: number;
  readonly score: number;
}

export interface RankingSnapshot {
  readonly scores: Frame['scores'];
  readonly tiers: Frame['tiers'];
  readonly pins: readonly (readonly [number, number])[];
}

/** The whole state of a ranking, with the candidates that filters left. */
export interface KeptRanking extends RankingSnapshot {
  readonly rows: Int32Array;
  readonly kept: Uint8Array;
}

/** The changes that a rule may make while its step runs. After the step, `bury` and `pin` do nothing. */
export class StepEdit implements RankingEdit {
  readonly scores: Float64Array;
  readonly #ranking: Ranking;
  #isOver = false;

  constructor(ranking: Ranking) {
    this.scores = ranking.scores;
    this.#ranking = ranking;
  }

  bury(row: number): void {
    if (!this.#isOver) this.#ranking.bury(row);
  }

  pin(row: number, position: number): void {
    if (!this.#isOver) this.#ranking.pin(row, position);
  }

  rowOf(id: string): number | undefined {
    return this.#ranking.rowOf(id);
  }

  order(): Int32Array {
    return this.#isOver ? new Int32Array() : this.#ranking.order();
  }

  end(): void {
    this.#isOver = true;
  }
}
