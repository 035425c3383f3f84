import type { StoreFailure } from '../../api/error-codes.js';
import type { StatusCounts } from '../../index/status-counts.js';
import type { Ranking } from '../components/ranking.js';
import type { StepReport } from '../components/run-components.js';

/**
 * What makes an answer worse than its pipeline promises, in the order told; the causes of the header `Millrace-Degraded`.
 * An answer has `unranked` alone, and
 * `unscored` at most once; the others once for each step or view.
 */
export const DEGRADATION_CAUSES = {
  unranked:
    'the store could not be read, and the candidates are in the order sent, as on_store_error: unranked says',
  unscored: 'candidates that a step which sets the score left without one, and no other step scored',
  skipped: 'a step that failed and was skipped, as on_error: skip says',
  failed: 'a feature view of which a value could not be read',
} as const;

export interface Degradation {
  readonly cause: keyof typeof DEGRADATION_CAUSES;
  /** Of `unranked`: the code of the failure; of `unscored`: candidates without a score / candidates ranked; else the name of the step or view. */
  readonly value: string;
}

/**
 * @param unscored see `unscoredOf`
 * @param lossCode why the store could not be read; nothing else is told then
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
