import type { StoreFailure } from '../../../ground/api/error-codes.js';
import type { StatusCounts } from '../../../state/index/status-counts.js';
import type { Ranking } from '../components/ranking.js';
import type { StepReport } from '../components/run-components.js';

/**
 * The causes of a degraded answer, in the order reported. The header `Millrace-Degraded` uses the same causes. `unranked`
 * occurs without any other cause, `unscored` at most once, and each other cause once for each step or view.
 */
export const DEGRADATION_CAUSES = {
  unranked:
    'the store could not be read, so the candidates are in the order sent (`on_store_error: unranked`)',
  unscored: 'candidates that got no score from a step that sets the score, nor from any other step',
  skipped: 'a step that failed and was skipped because of `on_error: skip`',
  not_finite: 'a rule that wrote scores that are not finite; those candidates kept the scores that they had',
  failed: 'a feature view with a value that could not be read',
  arm: 'an interleaving whose arms could not both be run, so the order is that of control',
} as const;

export interface Degradation {
  readonly cause: keyof typeof DEGRADATION_CAUSES;
  /**
   * For `unranked`: the code of the failure; for `unscored`: candidates without a score / ranked candidates; otherwise the
   * name of the step, view or experiment.
   */
  readonly value: string;
}

/**
 * @param unscored see `unscoredOf`
 * @param lossCode why the store could not be read; if set, it is the only reported cause
 */
export function degradationsOf(
  steps: readonly StepReport[],
  statuses: StatusCounts,
  unscored: number,
  ranked: number,
  lossCode: StoreFailure | undefined,
): readonly Degradation[] {
  if (lossCode !== undefined) return [{ cause: 'unranked', value: lossCode }];
  const found: Degradation[] = [];
  if (unscored > 0) found.push({ cause: 'unscored', value: `${unscored}/${ranked}` });
  for (const { outcome, step } of steps)
    if (outcome === 'failed') found.push({ cause: 'skipped', value: step.as });
  for (const { notFinite = 0, step } of steps)
    if (notFinite > 0) found.push({ cause: 'not_finite', value: step.as });
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
