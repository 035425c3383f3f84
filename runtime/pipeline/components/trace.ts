import { randomUUID } from 'node:crypto';
import type { PinSource } from '../../api/ranking-edit.js';
import type { PlannedStep } from '../../compile/plan.js';
import type { Causes } from './causes.js';
import { pinsOf, type Ranking, type RankingSnapshot } from './ranking.js';
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
      /** The place without pins; undefined if it is the same, or another pin wins. */
      readonly from: number | undefined;
    }
  /** Below others, by `bury` or because `top:` excludes it. */
  | { readonly kind: 'below' }
  /** From its place by weaker rules to its place with this rule, from 1. */
  | { readonly kind: 'place'; readonly from: number; readonly to: number }
);

/** Records the changes of the steps to the ranking. It exists only for requests with events or an explanation. */
export class Trace implements StepObserver {
  readonly changes: ScoreChange[] = [];
  moves: readonly Move[] = [];
  readonly #moves: Move[] = [];
  /** The steps that ran or failed, each with the rows before it. Steps that `when:` left out are missing. */
  readonly runs: { readonly step: PlannedStep; readonly rows: Int32Array }[] = [];
  /** Which rules inside a step changed which rows. */
  readonly causes = new Map<PlannedStep, Causes>();
  #before: RankingSnapshot | undefined;
  #rows: Int32Array = new Int32Array();

  /**
   * @param runId marks the events of this run
   * @param isRehearsal whether the request is only explained, so that effects are left out
   */
  constructor(
    readonly runId: string,
    readonly isRehearsal: boolean,
  ) {}

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
    const pinnedBefore = pinsOf(before);
    const pinned = pinsOf(now);
    const curated = new Map(now.pins.curation);
    for (const row of ranking.rows) {
      const from = before.scores[row] ?? 0;
      const to = now.scores[row] ?? 0;
      if (from !== to && !(Number.isNaN(from) && Number.isNaN(to)))
        this.changes.push({ step, row, before: from, after: to });
      const position = pinned.get(row);
      if (position !== undefined && position !== pinnedBefore.get(row)) {
        const source = curated.has(row) ? 'curation' : 'pipeline';
        this.#moves.push({ kind: 'pin', step, row, position, source, from: undefined });
      }
      if ((now.tiers[row] ?? 0) > (before.tiers[row] ?? 0)) this.#moves.push({ kind: 'below', step, row });
    }
  }

  end(ranking: Ranking): void {
    const pinned = new Map<number, number>();
    const steps = new Map(this.runs.map(({ step }) => [step.number, step]));
    const placed: Move[] = [];
    for (const { row, step: number, from, to } of ranking.moves()) {
      if (number === undefined) pinned.set(row, from);
      const step = steps.get(number ?? 0);
      if (step !== undefined) placed.push({ kind: 'place', step, row, from, to });
    }
    const { pins } = ranking;
    const moves = this.#moves.map((move) =>
      move.kind === 'pin' && pins.get(move.row) === move.position
        ? { ...move, from: pinned.get(move.row) }
        : move,
    );
    this.moves = [...moves, ...placed];
  }
}

/**
 * A trace for a request with events or an explanation; undefined for any other request.
 * @param runId undefined: a new id is generated
 */
export function traceOf(
  { includeEvents }: { readonly includeEvents: boolean },
  runId: string | undefined,
  isExplained: boolean,
): Trace | undefined {
  return includeEvents || isExplained ? new Trace(runId ?? randomUUID(), isExplained) : undefined;
}
