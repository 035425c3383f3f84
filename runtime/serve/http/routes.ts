import type { Pipeline } from '../../request/pipeline/types.js';
import type { Route } from './route.js';
import { reservedBy } from './route-path.js';
import { deleteEntities, deleteEntitiesFirstPath } from './routes/delete-entities.js';
import { deleteFeatures } from './routes/delete-features.js';
import { getCuration, putCuration } from './routes/curation.js';
import { explain } from './routes/explain.js';
import { feedback } from './routes/feedback.js';
import { forget } from './routes/forget.js';
import { listExperiments } from './routes/list-experiments.js';
import { resumeExperiment, stopExperiment } from './routes/stop-experiment.js';
import { getEntities } from './routes/get-entities.js';
import { feastPush, feastWrite } from './routes/feast-writes.js';
import { feastOnlineFeatures, getOnlineFeatures } from './routes/get-online-features.js';
import { healthcheck, healthz } from './routes/health.js';
import { INSPECT } from './routes/inspect.js';
import { metrics } from './routes/metrics.js';
import { openapi } from './routes/openapi.js';
import { pushFeatures } from './routes/push-features.js';
import { rank } from './routes/rank.js';
import { readiness } from './routes/readiness.js';
import { redocBundle } from './routes/redoc-bundle.js';
import { redoc } from './routes/redoc.js';
import { scanEntities } from './routes/scan-entities.js';
import { scanFeatures } from './routes/scan-features.js';
import { updateEntities } from './routes/update-entities.js';
import { uploadEntities } from './routes/upload-entities.js';

/** The routes that every project has, in the order of the OpenAPI document. */
export const SERVICE_ROUTES: readonly Route[] = [
  uploadEntities,
  updateEntities,
  getEntities,
  deleteEntitiesFirstPath,
  deleteEntities,
  scanEntities,
  pushFeatures,
  deleteFeatures,
  scanFeatures,
  getOnlineFeatures,
  feastOnlineFeatures,
  feastWrite,
  feastPush,
  feedback,
  forget,
  putCuration,
  getCuration,
  listExperiments,
  stopExperiment,
  resumeExperiment,
  redoc,
  redocBundle,
  ...INSPECT,
  healthz,
  healthcheck,
  readiness,
  metrics,
  openapi,
];

/** All routes of a project: two per pipeline, then those of the service. */
export function routesOf(pipelines: readonly Pipeline[]): readonly Route[] {
  return [...pipelines.flatMap((pipeline) => [rank(pipeline), explain(pipeline)]), ...SERVICE_ROUTES];
}

/** Paths that a pipeline cannot use as its route. An entry that ends with a slash reserves the whole folder. */
export const RESERVED_ROUTES: readonly string[] = [
  ...new Set(
    SERVICE_ROUTES.flatMap(({ path, folder }) => [
      reservedBy(path),
      ...(folder === undefined ? [] : [folder]),
    ]),
  ),
];
