import type { EntityIdentifier } from '../../ground/api/identifiers.js';
import type { Content } from '../../ground/api/curation.js';
import { PIN_SOURCES, type PinSource } from '../../ground/api/ranking-edit.js';
import type { Frame } from '../../language/frame/frame.js';
import { bestRows, BURIED } from './best-rows.js';
import { drawnMoves, movesOf, type OrderMove } from './order-moves.js';
import type { Draws } from './explore/draws.js';
import { explorePlaces, type ExploredPlaces, type ExploringStep } from './explore/explore-places.js';
import { placeRows, settleRules, type SettledRules } from './final-order.js';
import type { PageGrid } from './page-grid.js';
import { checkPosition, placesOf, winningPins } from './pins.js';
import { someRule, sorted, type DroppedRow, type AskOf, type OrderRule, type RuleName } from './rule-kind.js';
import { takeRule } from './rules.js';

export interface RankingParts {
  /** For rules that count by page; by default there is one page. */
  readonly page?: PageGrid | undefined;
  /** For a step that explores; without it, nothing is drawn. */
  readonly draws?: Draws | undefined;
  /** Of another ranking of the same rows, where this one begins. */
  readonly kept?: KeptRanking | undefined;
}

const ONE_PAGE: PageGrid = { size: 1 << 30, first: 0 };

/**
 * The ranking while the steps of a request run: the remaining candidates, their scores, and what rules ask of their order.
 * Rows are ordered by tier, then by descending score, then by input order. `final-order.ts` applies the rules after all
 * steps. Scores are never changed to produce a position.
 */
export class Ranking {
  #scores: Float64Array;
  /** By source: the position of each pinned row. Undefined while a source has none. */
  readonly #pins: Partial<Record<PinSource, Map<number, number> | undefined>> = {};
  #promoted: Promoted | undefined;
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

  constructor(
    frame: Frame,
    readonly candidateType: string,
    ids: readonly string[],
    { page = ONE_PAGE, draws, kept }: RankingParts = {},
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

  /** Goes on with a copy of the scores, since a plugin may have kept the array and write to it later. */
  leaveScores(): void {
    this.#frame.scores = this.#frame.scores.slice();
    this.#scores = this.#frame.scores.subarray(0, this.#frame.count);
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
    for (const source of PIN_SOURCES) for (const row of rows) this.#pins[source]?.delete(row);
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
    const pins = (this.#pins[source] ??= new Map<number, number>());
    pins.delete(row); // the pin is the latest one
    pins.set(row, position);
    this.#change();
  }

  /** Pins a row as a sponsor. The label counts where this pin holds. */
  sponsor(row: number, position: number, label: string): void {
    this.pin(row, position, 'sponsor');
    (this.#promoted ??= nothingPromoted()).labels.set(row, label);
  }

  /** Adds content, each once. */
  show(content: Content): void {
    (this.#promoted ??= nothingPromoted()).contents.add(content);
  }

  /** What the answer has besides its candidates. */
  get contents(): readonly Content[] {
    return this.#promoted === undefined ? [] : [...this.#promoted.contents];
  }

  /** Returns the label of a candidate by its row, if it has a paid place; undefined if none has. */
  get labelOf(): ((row: number) => string | undefined) | undefined {
    const labels = this.#promoted?.labels;
    const other = this.#interleaved?.labelOf;
    if (labels === undefined || labels.size === 0) return other;
    const { pins } = this;
    return (row) => (pins.has(row) && this.sourceOf(row) === 'sponsor' ? labels.get(row) : other?.(row));
  }

  /** A step asks for a rule of the order. @throws RangeError if it names a row or position that cannot be */
  ask<Name extends RuleName>(name: Name, step: number, ask: AskOf<Name>): void {
    this.#rules.push(takeRule(name, step, ask, this.#frame.count));
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
    if (!someRule(this.#rules, 'sort')) return this.#best(most);
    return sorted(this.#best(), this.#frame.count, this.#rules).subarray(0, most);
  }

  #best(most = this.#rows.length): Int32Array {
    return bestRows(this.#rows, this.#frame.scores, this.#frame.tiers, most);
  }

  /** Moves rows below all others of their tier. */
  putBelow(rows: readonly number[]): void {
    const { tiers } = this.#frame;
    for (const row of rows) tiers[row] = (tiers[row] ?? 0) + 1;
    this.#change();
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
      pins: {
        curation: listed(this.#pins.curation),
        sponsor: listed(this.#pins.sponsor),
        pipeline: listed(this.#pins.pipeline),
      },
      promoted: this.#promoted && copyOf(this.#promoted),
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

  #take({ pins, promoted, rules, exploring }: RankingSnapshot): void {
    this.#promoted = promoted && copyOf(promoted);
    for (const source of PIN_SOURCES) {
      this.#pins[source] = pins[source].length === 0 ? undefined : new Map(pins[source]);
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
      labelOf: this.labelOf,
      order: (most) => this.#own(Math.min(most, this.#rows.length)).order,
    };
  }

  /** Replaces the final order. Scores, tiers and rules stay those of this ranking. */
  interleave(mixed: MixedRows): void {
    this.#interleaved = mixed;
  }

  /** Whether limits or diversity fill the places around pins, slots and groups. */
  get fillsAround(): boolean {
    const rules = this.#rules;
    return someRule(rules, 'bound', 'preference') && (this.pins.size > 0 || someRule(rules, 'settle'));
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
   */
  placeAll(places: Int32Array, answered: Float64Array): void {
    places.fill(0, 0, this.#frame.count);
    answered.fill(NaN, 0, this.#frame.count);
    this.#walk(this.rows.length, (rank, row, score) => {
      places[row] = rank + 1;
      answered[row] = score;
    });
  }

  /** The positions of the pinned rows that hold their pins, by row. */
  get pins(): ReadonlyMap<number, number> {
    const { curation = NO_PINS, sponsor = NO_PINS, pipeline = NO_PINS } = this.#pins;
    return curation.size + sponsor.size + pipeline.size === 0
      ? NO_PINS
      : winningPins({ curation, sponsor, pipeline });
  }

  /** Whose pin of a row counts. */
  sourceOf(row: number): PinSource {
    return PIN_SOURCES.find((source) => this.#pins[source]?.has(row)) ?? 'pipeline';
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
      const fixed = placesOf(pins, this.#rows.length);
      return { base: free, order: placeRows({ fixed, free, dropped: [] }, stop), fixed };
    }
    const settled = this.#settle();
    const fixed = new Set(settled.fixed.values());
    const most = Math.min(this.#rows.length, stop + fixed.size + 1);
    const base = this.#best(most).filter((row) => !fixed.has(row));
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
  /** The label of a row that is paid for in the other ranking. */
  readonly labelOf?: RankingSide['labelOf'];
}

/** A ranking as one side of an interleaved one. */
export interface RankingSide {
  /** The remaining rows, ascending. */
  readonly rows: Int32Array;
  /** The rows with a place of their own, by position from 1. */
  readonly fixed: ReadonlyMap<number, number>;
  readonly rules: readonly OrderRule[];
  readonly page: PageGrid;
  readonly labelOf: ((row: number) => string | undefined) | undefined;
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
  readonly promoted: Promoted | undefined;
  readonly rules: readonly OrderRule[];
  readonly exploring: ExploringStep | undefined;
}

/** What rules add to the answer. */
interface Promoted {
  /** By row: the label of the latest sponsor. */
  readonly labels: Map<number, string>;
  readonly contents: Set<Content>;
}

const nothingPromoted = (): Promoted => ({ labels: new Map(), contents: new Set() });

function copyOf({ labels, contents }: Promoted): Promoted {
  return { labels: new Map(labels), contents: new Set(contents) };
}

const NONE: readonly (readonly [number, number])[] = [];
const NO_PINS: ReadonlyMap<number, number> = new Map();

/** Without pins, which is common, nothing is iterated. */
function listed(pins: ReadonlyMap<number, number> | undefined): readonly (readonly [number, number])[] {
  return pins === undefined || pins.size === 0 ? NONE : [...pins];
}

/** The pins of a snapshot that hold, from row to position. */
export function pinsOf({ pins }: RankingSnapshot): ReadonlyMap<number, number> {
  return winningPins({
    curation: new Map(pins.curation),
    sponsor: new Map(pins.sponsor),
    pipeline: new Map(pins.pipeline),
  });
}

/** The whole state of a ranking, with the candidates that filters left. */
export interface KeptRanking {
  readonly snapshot: RankingSnapshot;
  readonly rows: Int32Array;
}
