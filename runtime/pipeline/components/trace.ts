import { randomUUID } from 'node:crypto';
import type { PlannedStep } from '../../compile/plan.js';
import type { Ranking, RankingSnapshot } from './ranking.js';
import type { StepObserver, StepReport } from './run-components.js';

/** A score that a rule set. */
export interface ScoreChange {
  readonly step: PlannedStep;
  readonly row: number;
  readonly before: number;
  readonly after: number;
}

/** A constraint that a step put on a candidate's place; its score is as it was. */
export interface Move {
  readonly step: PlannedStep;
  readonly row: number;
  /** 1-based, of a pin; undefined where the row was put below others, by `bury` or out of reach of a `top:`. */
  readonly position: number | undefined;
}

/** What the steps did to the ranking, recorded while a request asks for events or is explained. */
export class Trace implements StepObserver {
  readonly changes: ScoreChange[] = [];
  readonly moves: Move[] = [];
  /** The steps that ran or failed, with the rows that were left before them; not those that `when:` left out. */
  readonly runs: { readonly step: PlannedStep; readonly rows: Int32Array }[] = [];
  #before: RankingSnapshot | undefined;
  #rows: Int32Array = new Int32Array();

  /**
   * @param runId marks the events of this run
   * @param isRehearsal whether the request is only explained, so that steps with effects outside it are left out
   */
  constructor(
    readonly runId: string,
    readonly isRehearsal: boolean,
  ) {}

  before(_step: PlannedStep, ranking: Ranking): void {
    this.#before = ranking.snapshot();
    this.#rows = ranking.rows;
  }

  after({ step, outcome }: StepReport, ranking: Ranking): void {
    const before = this.#before;
    if (outcome === 'not_asked_for' || before === undefined) return;
    this.runs.push({ step, rows: this.#rows });
    const now = ranking.snapshot();
    const pinnedBefore = new Map(before.pins);
    const pinned = new Map(now.pins);
    for (const row of ranking.rows) {
      const from = before.scores[row] ?? 0;
      const to = now.scores[row] ?? 0;
      if (from !== to && !(Number.isNaN(from) && Number.isNaN(to)))
        this.changes.push({ step, row, before: from, after: to });
      const position = pinned.get(row);
      if (position !== undefined && position !== pinnedBefore.get(row))
        this.moves.push({ step, row, position });
      if ((now.tiers[row] ?? 0) > (before.tiers[row] ?? 0))
        this.moves.push({ step, row, position: undefined });
    }
  }
}

/**
 * A trace where the request asks for events or is explained; undefined for any other.
 * @param runId made up when undefined
 */
export function traceOf(
  { includeEvents }: { readonly includeEvents: boolean },
  runId: string | undefined,
  isExplained: boolean,
): Trace | undefined {
  return includeEvents || isExplained ? new Trace(runId ?? randomUUID(), isExplained) : undefined;
}
