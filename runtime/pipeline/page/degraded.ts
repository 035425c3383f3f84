import type { StatusCounts } from '../../index/status-counts.js';
import type { Ranking } from '../components/ranking.js';
import type { StepReport } from '../components/run-components.js';

/**
 * What makes an answer worse than its pipeline promises, in the order told; the causes of the header `Millrace-Degraded`.
 * Each answer has a cause `unscored` at most once, the others once for each step or view.
 */
export const DEGRADATION_CAUSES = {
  unscored: 'candidates that a step which sets the score left without one, and no other step scored',
  skipped: 'a step that failed and was skipped, as on_error: skip says',
  failed: 'a feature view of which a value could not be read',
} as const;

export interface Degradation {
  readonly cause: keyof typeof DEGRADATION_CAUSES;
  /** Of `unscored`: candidates without a score / candidates ranked; else the name of the step or view. */
  readonly value: string;
}

/** @param unscored see `unscoredOf` */
export function degradationsOf(
  steps: readonly StepReport[],
  statuses: StatusCounts,
  unscored: number,
  ranked: number,
): readonly Degradation[] {
  const found: Degradation[] = [];
  if (unscored > 0) found.push({ cause: 'unscored', value: `${unscored}/${ranked}` });
  for (const { outcome, step } of steps)
    if (outcome === 'failed') found.push({ cause: 'skipped', value: step.as });
  for (const view of statuses.failedViews()) found.push({ cause: 'failed', value: view });
  return found;
}

/** `cause=value`, as header and command line show it. */
export function degradationText({ cause, value }: Degradation): string {
  return `${cause}=${value}`;
}

const SCORED = 1;
const LEFT = 2;

/**
 * How many candidates of the ranking have no score, though a step that sets the score ran over them. Looks at single
 * candidates only if a step has left some.
 */
export function unscoredOf(steps: readonly StepReport[], ranking: Ranking): number {
  const setting = steps.flatMap(({ scored }) => scored ?? []);
  if (setting.every(({ left }) => left.length === 0)) return 0;
  const found = new Uint8Array(ranking.scores.length);
  for (const { rows, left } of setting) {
    const isLeft = new Uint8Array(found.length);
    for (const row of left) isLeft[row] = 1;
    for (const row of rows) found[row] = (found[row] ?? 0) | (isLeft[row] === 1 ? LEFT : SCORED);
  }
  let count = 0;
  for (const row of ranking.rows) if (found[row] === LEFT) count++;
  return count;
}
