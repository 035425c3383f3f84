import type { StoreFailure } from '../../ground/api/error-codes.js';
import type { RankedCandidates } from './components/run-components.js';
import type { ReadStatuses } from './features/fetch-features.js';
import type { BatchRead } from './hydrate/batch-read.js';
import { degradationsOf, unscoredOf } from './page/degraded.js';
import type { RankingRequest } from './request/read-request.js';
import type { StageTimes } from './stages.js';
import type { RunReport } from './types.js';

/**
 * The data about a finished request for the metrics and the explanation.
 * @param lossCode why the candidates are unranked; undefined if they are ranked
 */
export function reportOf(
  request: RankingRequest,
  batch: BatchRead,
  { features, attributes }: ReadStatuses,
  { ranking, steps, stepMs }: RankedCandidates,
  stageMs: StageTimes,
  lossCode: StoreFailure | undefined,
): Omit<RunReport, 'experiments' | 'misspeltFields'> {
  const unscored = unscoredOf(steps, ranking);
  return {
    stageMs,
    stepMs,
    roundTrips: batch.roundTrips,
    keysRead: batch.keysRead,
    outside: batch.outside,
    candidates: request.ids.length,
    duplicates: request.duplicates.length,
    skippedSteps: steps.filter(({ outcome }) => outcome === 'failed').map(({ step }) => step.as),
    degraded: degradationsOf(steps, features, unscored, ranking.rows.length, lossCode),
    unscored,
    unknownFields: request.unknownFields,
    featureStatuses: features,
    attributeStatuses: attributes,
    missingEntities: batch.missing,
  };
}
