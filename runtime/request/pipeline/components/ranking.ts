import type { EntityIdentifier } from '../../../ground/api/identifiers.js';
import type { PinSource } from '../../../ground/api/ranking-edit.js';
import type { Frame } from '../../../language/frame/frame.js';
import { bestRows } from './best-rows.js';
import { drawnMoves, movesOf, type OrderMove } from './order-moves.js';
import type { Draws } from './draws.js';
import { explorePlaces, type ExploredPlaces, type ExploringStep } from './explore-places.js';
import {
  applyReorders,
  pinnedPlaces,
  placeRows,
  placesOf,
  settleRules,
  type SettledRules,
} from './final-order.js';
import {
  BURIED,
  checkPosition,
  checkRule,
  type DroppedRow,
  type OrderRule,
  type PageGrid,
  rulesOf,
  winningPins,
} from './order-rules.js';

/**
 * The ranking while the steps of a request run: the remaining candidates, their scores, and what rules ask of their order.
 * Rows are ordered by tier, then by descending score, then by input order. `final-order.ts` applies the rules after all
 * steps. Scores are never changed to produce a position.
 */
export class Ranking {
  #scores: Float64Array;
  /** Position by row. */
  readonly #pins: Record<PinSource, Map<number, number>> = { curation: new Map(), pipeline: new Map() };
  #rules: OrderRule[] = [];
  /** The final order, until something changes. */
  #settled: SettledRules | undefined;
  #exploring: ExploringStep | undefined;
  /** The drawn places, until something changes. */
  #explored: ExploredPlaces | undefined;
  readonly #frame: Frame;
  readonly #ids: readonly string[];
  #rows: Int32Array;
  /** By row: 0 after a filter removed it. Undefined until it is needed. */
  #kept: Uint8Array | undefined;
  #rowOf: Map<string, number> | undefined;
  readonly #page: PageGrid;
  /** Replaces the final order of this ranking. */
  #interleaved: MixedRows | undefined;
  readonly #draws: Draws | undefined;

  /**
   * @param page for rules that count by page; by default there is one page
   * @param draws for a step that explores; without it, nothing is drawn
   * @param kept of another ranking of the same rows, where this one begins
   */
  constructor(
    frame: Frame,
    readonly candidateType: string,
    ids: readonly string[],
    page: PageGrid = { size: 1 << 30, first: 0 },
    draws?: Draws,
    kept?: KeptRanking,
  ) {
    this.#frame = frame;
    this.#draws = draws;
    this.#page = page;
    this.#ids = ids;
    this.#scores = frame.scores.subarray(0, frame.count);
    this.#rows = kept?.rows ?? new Int32Array(frame.count);
    if (kept !== undefined) this.reset(kept);
    else for (let row = 0; row < frame.count; row++) this.#rows[row] = row;
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
    return this.#interleaved?.rows ?? this.#rows;
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
      this.#pins.curation.delete(row);
      this.#pins.pipeline.delete(row);
    }
    this.#drop(rows);
    this.#change();
  }

  #drop(rows: readonly number[]): void {
    const kept = this.#isKept();
    for (const row of rows) kept[row] = 0;
    this.#rows = this.#rows.filter((row) => kept[row] === 1);
  }

  #isKept(): Uint8Array {
    if (this.#kept !== undefined) return this.#kept;
    const kept = (this.#kept = new Uint8Array(this.#frame.count));
    for (let at = 0; at < this.#rows.length; at++) kept[this.#rows[at] ?? 0] = 1;
    return kept;
  }

  bury(row: number): void {
    this.#checkRow(row);
    this.#change();
    const tier = this.#frame.tiers[row];
    if (tier !== undefined && tier < BURIED) this.#frame.tiers[row] = tier + BURIED;
  }

  /**
   * A later pin of the same source wins over its earlier pin of the row or position. A removed row is not pinned.
   */
  pin(row: number, position: number, source: PinSource = 'pipeline'): void {
    checkPosition(position);
    this.#checkRow(row);
    if (this.#isKept()[row] !== 1) return;
    const pins = this.#pins[source];
    pins.delete(row); // the pin is the latest one
    pins.set(row, position);
    this.#change();
  }

  /** Adds a rule of the order. @throws RangeError if it names a row or position that cannot be */
  addRule(rule: OrderRule): void {
    checkRule(rule, this.#frame.count);
    this.#rules.push(rule);
    this.#change();
  }

  /** Draws the first places of the final order. The latest call counts. */
  explore(exploring: ExploringStep): void {
    this.#exploring = exploring;
    this.#change();
  }

  #change(): void {
    this.#settled = undefined;
    this.#explored = undefined;
  }

  #checkRow(row: number): void {
    if (!Number.isInteger(row) || row < 0 || row >= this.#frame.count)
      throw new RangeError(`there is no row ${String(row)}`);
  }

  rowOf(id: string): number | undefined {
    this.#rowOf ??= new Map(this.#ids.map((known, row) => [known, row]));
    return this.#rowOf.get(id);
  }

  /** The best `most` rows, best first, by score, tier and `reorder`. It ignores all stronger rules. */
  order(most = this.#rows.length): Int32Array {
    const reorders = rulesOf(this.#rules, 'reorder');
    if (reorders.length === 0) return this.#best(most);
    return applyReorders(this.#best(), this.#frame.count, reorders).subarray(0, most);
  }

  #best(most = this.#rows.length): Int32Array {
    return bestRows(this.#rows, this.#frame.scores, this.#frame.tiers, most);
  }

  /** Moves all other rows below the `top` best ones. @returns the best rows, ascending */
  scopeTo(top: number): Int32Array {
    this.#change();
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
    return {
      scores: scores.slice(0, count),
      tiers: tiers.slice(0, count),
      pins: { curation: listed(this.#pins.curation), pipeline: listed(this.#pins.pipeline) },
      rules: this.#rules.slice(),
      exploring: this.#exploring,
    };
  }

  /** Undoes a step. The arrays of the snapshot replace the old ones, to which the failed step may still write. */
  restore(snapshot: RankingSnapshot): void {
    this.#frame.scores = this.#scores = snapshot.scores;
    this.#frame.tiers = snapshot.tiers;
    this.#take(snapshot);
  }

  #take({ pins, rules, exploring }: RankingSnapshot): void {
    for (const source of ['curation', 'pipeline'] as const) {
      const own = this.#pins[source];
      if (own.size > 0) own.clear();
      for (const [row, position] of pins[source]) own.set(row, position);
    }
    this.#rules = rules.slice();
    this.#exploring = exploring;
    this.#change();
  }

  /** A copy of the whole state, to run the same steps several times, or other ones on a ranking of the same rows. */
  keep(): KeptRanking {
    return { snapshot: this.snapshot(), rows: this.#rows };
  }

  /** Returns to a kept state, which can be used again. It may be that of another ranking of the same rows. */
  reset({ snapshot, rows }: KeptRanking): void {
    this.#frame.scores.set(snapshot.scores);
    this.#frame.tiers.set(snapshot.tiers);
    this.#scores = this.#frame.scores.subarray(0, this.#frame.count);
    this.#take(snapshot);
    this.#rows = rows;
    this.#kept = undefined;
  }

  /**
   * Ends the steps: rules that keep one candidate of a group remove the others.
   * @returns the removed rows
   */
  settle(): readonly DroppedRow[] {
    if (this.#rules.length === 0) return [];
    const { dropped } = this.#settle();
    if (dropped.length > 0) this.#drop(dropped.map(({ row }) => row));
    return dropped;
  }

  /** What another ranking of the same rows needs to be interleaved with this one, after all steps. */
  side(): RankingSide {
    this.settle();
    const settled = this.#rules.length > 0 ? this.#settle() : undefined;
    const { pins } = this;
    return {
      rows: this.#rows,
      fixed: settled?.fixed ?? placesOf(pins, this.#rows.length),
      rules: this.#rules,
      page: this.#page,
      order: (most) => this.#own(Math.min(most, this.#rows.length)).order,
    };
  }

  /** Replaces the final order. Scores, tiers and rules stay those of this ranking. */
  interleave(mixed: MixedRows): void {
    this.#interleaved = mixed;
  }

  /** Whether limits or diversity fill the places around pins, slots and groups. */
  get fillsAround(): boolean {
    const has = (...kinds: readonly OrderRule['kind'][]): boolean =>
      this.#rules.some(({ kind }) => kinds.includes(kind));
    return has('limit', 'diversify') && (this.pins.size > 0 || has('slot', 'group'));
  }

  /** What the rules of the order moved. It costs an ordering for each rule. */
  moves(): readonly OrderMove[] {
    const { explored } = this;
    return explored === undefined ? this.#ruleMoves() : [...this.#ruleMoves(), ...drawnMoves(explored)];
  }

  /** What was drawn; undefined if no step explores. */
  get explored(): ExploredPlaces | undefined {
    // Explanations ask for each candidate.
    if (this.#exploring === undefined || this.#draws === undefined) return undefined;
    this.settle();
    if (this.#explored === undefined) this.#final(0);
    return this.#explored;
  }

  #ruleMoves(): readonly OrderMove[] {
    if (this.#rules.length === 0 && this.pins.size === 0) return [];
    const { scores, tiers } = this.#frame;
    const dropped = this.settle();
    const rows = Int32Array.from([...this.#rows, ...dropped.map(({ row }) => row)]).sort();
    const base = bestRows(rows, scores, tiers, rows.length);
    return movesOf({ base, scores, tiers, pins: this.pins, rules: this.#rules, page: this.#page });
  }

  #settle(): SettledRules {
    const { scores, tiers } = this.#frame;
    return (this.#settled ??= settleRules({
      base: this.#best(),
      scores,
      tiers,
      pins: this.pins,
      rules: this.#rules,
      page: this.#page,
    }));
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
   * @param end the number of first places that are wanted; rows after them are written like removed ones
   */
  placeAll(places: Int32Array, answered: Float64Array, end = this.rows.length): void {
    places.fill(0, 0, this.#frame.count);
    answered.fill(NaN, 0, this.#frame.count);
    this.#walk(end, (rank, row, score) => {
      places[row] = rank + 1;
      answered[row] = score;
    });
  }

  /** The positions of the pinned rows that hold their pins, by row. */
  get pins(): ReadonlyMap<number, number> {
    return winningPins(this.#pins);
  }

  /** Whose pin of a row counts. */
  sourceOf(row: number): PinSource {
    return this.#pins.curation.has(row) ? 'curation' : 'pipeline';
  }

  /** Calls `visit` for each rank of the final order before `end`. */
  #walk(end: number, visit: (rank: number, row: number, score: number) => void): void {
    this.settle();
    const stop = Math.min(end, this.rows.length);
    const { base, order } = this.#final(stop);
    const isPlaced = base === order ? undefined : new Uint8Array(this.#frame.count);
    let next = 0;
    let ceiling = Infinity;
    for (let rank = 0; rank < stop; rank++) {
      const row = order[rank] ?? 0;
      let floor = -Infinity;
      if (isPlaced !== undefined) {
        while (next < base.length && isPlaced[base[next] ?? 0] === 1) next++;
        // A row that a rule moved up has a score that is not below that of the best row that it passed.
        const head = base[next];
        if (head !== undefined && head !== row) floor = this.scores[head] ?? -Infinity;
        isPlaced[row] = 1;
      }
      const score = Math.min(ceiling, Math.max(floor, this.scores[row] ?? 0));
      ceiling = score;
      visit(rank, row, score);
    }
  }

  /**
   * @returns the first `stop` rows of the final order, or more, and the rows without a place of their own by tier and
   * score: at least those that may pass the rows of the order
   */
  #final(stop: number): { readonly base: Int32Array; readonly order: Int32Array } {
    const mixed = this.#interleaved;
    if (mixed === undefined) return this.#own(stop);
    const order = mixed.first(stop);
    const { scores, tiers } = this.#frame;
    const base =
      mixed.rows === this.#rows && this.#rules.length === 0 && this.pins.size === 0
        ? mixed.controlFirst
        : bestRows(mixed.rows, scores, tiers, Math.min(mixed.rows.length, stop + 1));
    return { base, order };
  }

  /** The same without another ranking. */
  #own(stop: number): { readonly base: Int32Array; readonly order: Int32Array } {
    if (this.#exploring === undefined || this.#draws === undefined) return this.#undrawn(stop);
    const { top } = this.#exploring.exploration;
    const { base, order, fixed } = this.#undrawn(Math.min(this.#rows.length, Math.max(stop, top)));
    const { scores, tiers } = this.#frame;
    this.#explored ??= explorePlaces(this.#exploring, { order, fixed, scores, tiers }, this.#draws);
    const drawn = order.slice();
    drawn.set(this.#explored.order);
    return { base, order: drawn };
  }

  /** The same without exploration, with the rows that have a place of their own, by position. */
  #undrawn(stop: number): {
    readonly base: Int32Array;
    readonly order: Int32Array;
    readonly fixed: SettledRules['fixed'];
  } {
    const { pins } = this;
    if (this.#rules.length === 0) {
      const best = this.#best(Math.min(this.#rows.length, stop + pins.size + 1));
      if (pins.size === 0) return { base: best, order: best, fixed: pins };
      const free = best.filter((row) => !pins.has(row));
      const settled = pinnedPlaces(pins, free, this.#rows.length);
      return { base: free, order: placeRows(settled, stop), fixed: settled.fixed };
    }
    const settled = this.#settle();
    const fixed = new Set(settled.fixed.values());
    const base = this.#best().filter((row) => !fixed.has(row));
    return { base, order: placeRows(settled, stop), fixed: settled.fixed };
  }
}

/** The order of two rankings that are interleaved. */
export interface MixedRows {
  /** All rows, ascending. Some may not be in one of the rankings. */
  readonly rows: Int32Array;
  /** The first rows, best first. More rows begin with the same ones. */
  first(most: number): Int32Array;
  /** The first rows of this ranking alone: one more than `first` returned last, if there are so many. */
  readonly controlFirst: Int32Array;
}

/** A ranking as one side of an interleaved one. */
export interface RankingSide {
  /** The remaining rows, ascending. */
  readonly rows: Int32Array;
  /** The rows with a place of their own, by position from 1. */
  readonly fixed: ReadonlyMap<number, number>;
  readonly rules: readonly OrderRule[];
  readonly page: PageGrid;
  /** The first rows of the final order. */
  readonly order: (most: number) => Int32Array;
}

export interface RankedRow {
  readonly row: number;
  readonly score: number;
}

export interface RankingSnapshot {
  readonly scores: Frame['scores'];
  readonly tiers: Frame['tiers'];
  readonly pins: Readonly<Record<PinSource, readonly (readonly [number, number])[]>>;
  readonly rules: readonly OrderRule[];
  readonly exploring: ExploringStep | undefined;
}

const NONE: readonly (readonly [number, number])[] = [];

/** Without pins, which is common, nothing is iterated. */
function listed(pins: ReadonlyMap<number, number>): readonly (readonly [number, number])[] {
  return pins.size === 0 ? NONE : [...pins];
}

/** The pins of a snapshot that hold, from row to position. */
export function pinsOf({ pins }: RankingSnapshot): ReadonlyMap<number, number> {
  return winningPins({ curation: new Map(pins.curation), pipeline: new Map(pins.pipeline) });
}

/** The whole state of a ranking, with the candidates that filters left. */
export interface KeptRanking {
  readonly snapshot: RankingSnapshot;
  readonly rows: Int32Array;
}
