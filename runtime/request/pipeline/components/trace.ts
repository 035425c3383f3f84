import { PIN_SOURCES, type PinSource } from '../../../ground/api/ranking-edit.js';
import type { PlannedStep } from '../../compile/plan.js';
import type { Causes } from '../../ordering/causes.js';
import { bestRows } from '../../ordering/best-rows.js';
import type { Ranking, RankingSnapshot } from '../../ordering/ranking.js';
import type { StepObserver, StepReport } from './run-components.js';

/** A score that a rule set. */
export interface ScoreChange {
  readonly step: PlannedStep;
  readonly row: number;
  readonly before: number;
  readonly after: number;
}

/** What a step did to the place of a candidate. The score of the candidate does not change. */
export type Move = { readonly step: PlannedStep; readonly row: number } & (
  | {
      readonly kind: 'pin';
      readonly source: PinSource;
      /** From 1. */
      readonly position: number;
      /** Whether no other pin of the position or the candidate wins. */
      readonly holds: boolean;
      /** The place without pins; undefined if it is the same, if there is none, or if another pin wins. */
      readonly from: number | undefined;
    }
  /**
   * Below others, by `bury` or because `top:` excludes it. The places are those by score, without and with it, from 1;
   * undefined if they are the same, or the candidate is removed.
   */
  | { readonly kind: 'below'; readonly from: number | undefined; readonly to: number | undefined }
  /** From its place by weaker rules to its place with this rule, from 1. `from` is undefined if a weaker rule removes it. */
  | { readonly kind: 'place'; readonly from: number | undefined; readonly to: number }
);

/** Records the changes of the steps to the ranking. It exists only for requests with events or an explanation. */
export class Trace implements StepObserver {
  readonly changes: ScoreChange[] = [];
  moves: readonly Move[] = [];
  readonly #moves: Move[] = [];
  /** The tiers before and after the steps that moved candidates below others. */
  readonly #tiers = new Map<PlannedStep, { readonly before: Int32Array; readonly after: Int32Array }>();
  /** The steps that ran or failed, each with the rows before it. Steps that `when:` left out are missing. */
  readonly runs: { readonly step: PlannedStep; readonly rows: Int32Array }[] = [];
  /** Which rules inside a step changed which rows. */
  readonly causes = new Map<PlannedStep, Causes>();
  #before: RankingSnapshot | undefined;
  #rows: Int32Array = new Int32Array();

  /** @param runId marks the events of this run */
  constructor(readonly runId: string) {}

  before(_step: PlannedStep, ranking: Ranking): void {
    this.#before = ranking.snapshot();
    this.#rows = ranking.rows;
  }

  after({ step, outcome, causes }: StepReport, ranking: Ranking): void {
    if (causes !== undefined) this.causes.set(step, causes);
    const before = this.#before;
    if (outcome === 'not_asked_for' || before === undefined) return;
    this.runs.push({ step, rows: this.#rows });
    const now = ranking.snapshot();
    this.#addPins(step, before, now, ranking.rows);
    for (const row of ranking.rows) {
      const from = before.scores[row] ?? 0;
      const to = now.scores[row] ?? 0;
      if (from !== to && !(Number.isNaN(from) && Number.isNaN(to)))
        this.changes.push({ step, row, before: from, after: to });
      if ((now.tiers[row] ?? 0) > (before.tiers[row] ?? 0)) {
        this.#moves.push({ kind: 'below', step, row, from: undefined, to: undefined });
        this.#tiers.set(step, { before: before.tiers, after: now.tiers });
      }
    }
  }

  /** The pins that a step made, whether or not they hold. A pin of which a filter removed the winner is not made again. */
  #addPins(step: PlannedStep, before: RankingSnapshot, now: RankingSnapshot, rows: Int32Array): void {
    for (const source of PIN_SOURCES) {
      if (now.pins[source].length === 0) continue;
      const known = new Map(before.pins[source]);
      const kept = new Set(rows);
      for (const [row, position] of now.pins[source])
        if (known.get(row) !== position && kept.has(row))
          this.#moves.push({ kind: 'pin', step, row, position, source, holds: false, from: undefined });
    }
  }

  end(ranking: Ranking): void {
    const pinned = new Map<number, number>();
    const steps = new Map(this.runs.map(({ step }) => [step.number, step]));
    const placed: Move[] = [];
    for (const { row, step: number, from, to } of ranking.moves()) {
      if (number === undefined && from !== undefined) pinned.set(row, from);
      const step = steps.get(number ?? 0);
      if (step !== undefined) placed.push({ kind: 'place', step, row, from, to });
    }
    const { pins, rows, scores } = ranking;
    const below = new Map(
      Array.from(this.#tiers, ([step, { before, after }]) => [
        step,
        { before: placesBy(rows, scores, before), after: placesBy(rows, scores, after) },
      ]),
    );
    const moves = this.#moves.map((move): Move => {
      if (move.kind === 'pin') {
        const holds = pins.get(move.row) === move.position && ranking.sourceOf(move.row) === move.source;
        return holds ? { ...move, holds, from: pinned.get(move.row) } : move;
      }
      if (move.kind !== 'below') return move;
      const places = below.get(move.step);
      const [from, to] = [places?.before.get(move.row), places?.after.get(move.row)];
      return from === to ? move : { ...move, from, to };
    });
    this.moves = [...moves, ...placed];
  }
}

/** The places of rows by tier and score, from 1. */
function placesBy(rows: Int32Array, scores: Float64Array, tiers: Int32Array): ReadonlyMap<number, number> {
  const order = bestRows(rows, scores, tiers, rows.length);
  return new Map(Array.from(order, (row, rank) => [row, rank + 1]));
}
