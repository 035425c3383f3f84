import type { EntityIdentifier } from '../../api/identifiers.js';
import type { RankingEdit } from '../../api/plugin.js';
import type { Frame } from '../../frame/frame.js';
import { bestRows } from './best-rows.js';

/** Added to the tier of a buried row: below every tier that `top:` makes. */
const BURIED = 1 << 20;

/**
 * The ranking while a request's steps run: which candidates are left, their scores, and the constraints on their
 * order. Order is tier, then score descending, then input order; pins are applied last. Scores are never rewritten
 * to fake a position.
 */
export class Ranking {
  #scores: Float64Array;
  /** Position by row. */
  readonly #pins = new Map<number, number>();
  readonly #frame: Frame;
  readonly #ids: readonly string[];
  #rows: Int32Array;
  /** By row: 0 once a filter took it out. */
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

  /** Candidates that no filter took out, in input order. */
  get rows(): Int32Array {
    return this.#rows;
  }

  candidate(row: number): EntityIdentifier {
    const id = this.#ids[row];
    if (id === undefined) throw new RangeError(`no candidate in row ${row}`);
    return { type: this.candidateType, id };
  }

  /** @throws RangeError, and nothing is removed, if a row does not exist */
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

  /** A later pin of the same row or to the same position replaces the earlier one; of a filtered row: nothing. */
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

  /** All rows best first, or the best `most` of them; pins left out of account. */
  order(most = this.#rows.length): Int32Array {
    return bestRows(this.#rows, this.#frame.scores, this.#frame.tiers, most);
  }

  /** The rows of the `top` best, ascending; from now on the others stand below them. */
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

  /** What a step may change, so that a failed one can be undone whole. */
  snapshot(): RankingSnapshot {
    const { scores, tiers, count } = this.#frame;
    return { scores: scores.slice(0, count), tiers: tiers.slice(0, count), pins: [...this.#pins] };
  }

  /** Undoes a step. Scores are those of the snapshot from now on: what the step left behind has but the old ones. */
  restore({ scores, tiers, pins }: RankingSnapshot): void {
    this.#frame.scores = this.#scores = scores;
    this.#frame.tiers = tiers;
    this.#pins.clear();
    for (const [row, position] of pins) this.#pins.set(row, position);
  }

  /**
   * Ranks `start` (inclusive) to `end` (exclusive), 0-based, of the final order, each with its answered score.
   *
   * Answered scores never increase down the ranking and equal the score wherever no rule moved a candidate: a pinned
   * candidate's is brought between its neighbours', and one that `top:` or `bury` holds down is brought below those
   * above it.
   */
  slice(start: number, end: number): RankedRow[] {
    const total = this.#rows.length;
    const stop = Math.min(end, total);
    const pinned = this.#positions(total);
    const free = this.#free(stop, pinned.size);
    const answered: RankedRow[] = [];
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
      if (rank >= start) answered.push({ row, score });
    }
    return answered;
  }

  /** The best unpinned rows, one more than the ranks asked for. */
  #free(stop: number, pins: number): Int32Array {
    const best = this.order(Math.min(this.#rows.length, stop + pins + 1));
    return pins === 0 ? best : best.filter((row) => !this.#pins.has(row));
  }

  /** Row by exact position; a position past the end becomes the last that is free. */
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

/** The ranking as a rule may change it, as long as its step runs: work that it leaves behind changes no place. */
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
