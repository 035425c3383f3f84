import type { StatusCounts } from '../../index/status-counts.js';
import type { Ranking } from '../components/ranking.js';
import type { StepReport } from '../components/run-components.js';

/**
 * The causes of a degraded answer, in the order reported; also the causes of the header `Millrace-Degraded`. An answer
 * has the cause `unscored` at most once, and the others once for each step or view.
 */
export const DEGRADATION_CAUSES = {
  unscored: 'candidates that got no score from a step that sets the score, nor from any other step',
  skipped: 'a step that failed and was skipped because of `on_error: skip`',
  failed: 'a feature view with a value that could not be read',
} as const;

export interface Degradation {
  readonly cause: keyof typeof DEGRADATION_CAUSES;
  /** For `unscored`: candidates without a score / ranked candidates; otherwise the name of the step or view. */
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

/** `cause=value`, as in the header and on the command line. */
export function degradationText({ cause, value }: Degradation): string {
  return `${cause}=${value}`;
}

const SCORED = 1;
const LEFT = 2;

/**
 * Counts ranked candidates without a score although a step that sets the score ran over them. It checks single
 * candidates only if a step left some unscored.
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
