import type { PlannedStep } from '../compile/plan.js';
import type { Ranking } from './ranking.js';
import type { StepObserver, StepReport } from './run-components.js';

/** A score that a rule set. */
export interface ScoreChange {
  readonly step: PlannedStep;
  readonly row: number;
  readonly before: number;
  readonly after: number;
}

/** What the steps did to the scores, recorded while a request asks for events. */
export class Trace implements StepObserver {
  readonly changes: ScoreChange[] = [];
  /** The steps that ran or failed; not those that `when:` left out. */
  readonly steps: PlannedStep[] = [];
  #before = new Float64Array(0);

  before(_step: PlannedStep, ranking: Ranking): void {
    this.#before = ranking.scores.slice();
  }

  after(report: StepReport, ranking: Ranking): void {
    if (report.outcome === 'not_asked_for') return;
    this.steps.push(report.step);
    for (const row of ranking.rows) {
      const before = this.#before[row] ?? 0;
      const after = ranking.scores[row] ?? 0;
      if (before !== after) this.changes.push({ step: report.step, row, before, after });
    }
  }
}
