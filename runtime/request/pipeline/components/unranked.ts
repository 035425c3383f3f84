import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import { Ranking } from '../../ordering/ranking.js';
import type { RankedCandidates } from './run-components.js';

const REASON = 'the store could not be read';

/** The candidates in request order with score 0. No step runs any more, and no effect. */
export function unranked(plan: Plan, frame: Frame, ids: readonly string[]): RankedCandidates {
  frame.scores.fill(0, 0, frame.count);
  frame.tiers.fill(0, 0, frame.count);
  return {
    stepMs: new Float64Array(plan.steps.length).fill(NaN),
    ranking: new Ranking(frame, plan.candidateType.name, ids),
    steps: plan.steps.map((step) => ({
      step,
      outcome: 'not_asked_for',
      removed: [],
      reason: REASON,
      applied: 0,
      skipped: 0,
    })),
  };
}
