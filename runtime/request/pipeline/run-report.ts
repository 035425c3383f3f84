import type { FinishedStages, OpenedRequest, PlanRun } from './plan-run.js';
import type { StoreFailure } from '../../ground/api/error-codes.js';
import type { ReadReport } from '../../state/index/feature-source.js';
import type { Ranking } from '../ordering/ranking.js';
import type { StepReport } from './components/run-components.js';
import type { Degradation } from './page/degraded.js';
import { pageTeams } from './interleave/mixed-run.js';
import type { MisspeltField } from './request/misspelt-fields.js';
import type { RetrievalReport } from './request/retrieval-report.js';
import type { RunReport } from './types.js';

const NO_FIELDS: readonly MisspeltField[] = [];
const NO_STEPS: readonly string[] = [];

/** The data about a finished request for the metrics and the explanation. */
export function reportOf(
  { services, stages, taken, asked }: PlanRun,
  { request, indexed, brought, retrieved }: OpenedRequest,
  { ranked, page, statuses, mixed, batch, lossCode }: FinishedStages,
): RunReport {
  const { ranking, steps, stepMs } = ranked;
  const misspelt =
    request.unknownFields.size === 0
      ? NO_FIELDS
      : (services.misspelt?.of(request.unknownFields) ?? NO_FIELDS);
  const unscored = unscoredOf(steps, ranking);
  const retrieval = retrieved?.report;
  const { reads } = batch.outside;
  const failed = statuses.features.failedViews();
  // The reads of readers say why their values are failed.
  const views =
    reads === undefined ? failed : failed.filter((name) => !reads.some(({ view }) => view === name));
  const causes = degradationsOf(steps, views, unscored, ranking.rows.length, lossCode);
  const isOutside = retrieval !== undefined || reads !== undefined;
  const degraded = isOutside ? [...unretrieved(retrieval), ...unread(reads), ...causes] : causes;
  return {
    stageMs: stages.clock.ms,
    stepMs,
    roundTrips: batch.roundTrips,
    keysRead: batch.keysRead,
    outside: batch.outside,
    candidates: request.ids.length,
    duplicates: request.duplicates.length,
    skippedSteps:
      degraded.length === 0
        ? NO_STEPS
        : degraded.flatMap(({ cause, value }) => (cause === 'skipped' ? value : [])),
    degraded: mixed === undefined ? degraded : [...degraded, ...mixed.degraded],
    unscored,
    unknownFields: request.unknownFields,
    misspeltFields: misspelt,
    featureStatuses: statuses.features,
    attributeStatuses: statuses.attributes,
    missingEntities: batch.missing,
    experiments: taken,
    ...(asked.lax !== undefined && asked.lax.coerced.total > 0 && { coerced: asked.lax.coerced }),
    ...(indexed !== undefined && { indexed }),
    ...(brought !== undefined && { brought }),
    ...(retrieval !== undefined && { retrieval }),
    ...(mixed?.teams !== undefined && { interleaved: pageTeams(mixed.teams, page) }),
  };
}

function unretrieved(retrieval: RetrievalReport | undefined): Degradation[] {
  return (retrieval?.retrievers ?? []).flatMap(({ as, outcome }): Degradation[] =>
    outcome === 'found' || outcome === 'not_asked' ? [] : [{ cause: 'retrieve', value: as }],
  );
}

/** Each view once, also if several levels read it. */
function unread(reads: readonly ReadReport[] = []): Degradation[] {
  const views = reads
    .filter(({ outcome }) => outcome !== 'read' && outcome !== 'kept')
    .map(({ view }) => view);
  return Array.from(new Set(views), (value) => ({ cause: 'read', value }));
}

/**
 * @param failed views with failed values
 * @param unscored see `unscoredOf`
 * @param lossCode why the store could not be read; if set, it is the only reported cause
 */
function degradationsOf(
  steps: readonly StepReport[],
  failed: readonly string[],
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
  for (const view of failed) found.push({ cause: 'failed', value: view });
  return found;
}

const SCORED = 1;
const LEFT = 2;

/**
 * Counts ranked candidates without a score although a step that sets the score ran over them. It checks single
 * candidates only if a step left some unscored.
 */
function unscoredOf(steps: readonly StepReport[], ranking: Ranking): number {
  let hasLeft = false;
  for (const { scored } of steps) if (scored !== undefined && scored.left.length > 0) hasLeft = true;
  if (!hasLeft) return 0;
  const setting = steps.flatMap(({ scored }) => scored ?? []);
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
