import type { Settings } from '../../project/settings/settings.js';
import type { Pipeline } from '../../request/pipeline/types.js';
import type { CompiledFront } from '../fronts/open-front.js';
import type { Route } from './route.js';
import { reservedBy } from './route-path.js';
import { COMPARISONS } from './routes/comparisons.js';
import { JUDGING } from './routes/judging.js';
import { WORKSHOP } from './routes/workshop.js';
import { deleteEntities, deleteEntitiesFirstPath } from './routes/delete-entities.js';
import { deleteFeatures } from './routes/delete-features.js';
import { getCuration, putCuration } from './routes/curation.js';
import { explain } from './routes/explain.js';
import { feedback } from './routes/feedback.js';
import { frontRoutes } from './routes/front.js';
import { DRAFT_ROUTES } from './routes/drafts.js';
import { forget } from './routes/forget.js';
import { listExperiments } from './routes/list-experiments.js';
import { resumeExperiment, stopExperiment } from './routes/stop-experiment.js';
import { getEntities } from './routes/get-entities.js';
import { feastPush, feastWrite } from './routes/feast-writes.js';
import { feastOnlineFeatures, getOnlineFeatures } from './routes/get-online-features.js';
import { healthcheck, healthz } from './routes/health.js';
import { PAGE_FOLDERS, WORKBENCH } from './routes/workbench.js';
import { metrics } from './routes/metrics.js';
import { openapi } from './routes/openapi.js';
import { preview } from './routes/preview.js';
import { PREVIEWS } from './routes/previews.js';
import { pushFeatures } from './routes/push-features.js';
import { rank } from './routes/rank.js';
import { readiness } from './routes/readiness.js';
import { reload } from './routes/reload.js';
import { endRollback, listReleases, rollBack } from './routes/releases.js';
import { rebuildCounter } from './routes/rebuild-counter.js';
import { redocBundle } from './routes/redoc-bundle.js';
import { redoc } from './routes/redoc.js';
import { search } from './routes/search.js';
import { listInstances } from './routes/instances.js';
import { INVITATIONS } from './routes/invitations.js';
import { SESSION } from './routes/session.js';
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
  rebuildCounter,
  putCuration,
  getCuration,
  ...DRAFT_ROUTES,
  ...PREVIEWS,
  ...JUDGING,
  ...COMPARISONS,
  ...WORKSHOP,
  listInstances,
  listExperiments,
  stopExperiment,
  resumeExperiment,
  reload,
  listReleases,
  rollBack,
  endRollback,
  ...SESSION,
  ...INVITATIONS,
  redoc,
  redocBundle,
  ...WORKBENCH,
  healthz,
  healthcheck,
  readiness,
  metrics,
  openapi,
];

/** Whether a route is a page for people who use the workbench, or a file of one. */
export const isOfWorkbench = (route: Route): boolean =>
  'page' in route && PAGE_FOLDERS.some((folder) => route.folder === folder);

/**
 * All routes of a project: those of the pipelines, of the fronts, then those of the service.
 * @param workbench whether the pages of the workbench are among them
 */
export function routesOf(
  pipelines: readonly Pipeline[],
  fronts: readonly CompiledFront[] = [],
  workbench: Settings['workbench'] = 'on',
): readonly Route[] {
  const ofFront = (front: CompiledFront): readonly Route[] =>
    pipelines
      .filter(({ name }) => name === front.definition.pipeline.value)
      .flatMap((pipeline) => frontRoutes(front, pipeline));
  const service = SERVICE_ROUTES.filter((route) =>
    workbench === 'only' ? route.usesLedger !== true : workbench === 'on' || !isOfWorkbench(route),
  );
  return [...pipelines.flatMap(ofPipeline), ...fronts.flatMap(ofFront), ...service];
}

function ofPipeline(pipeline: Pipeline): readonly Route[] {
  const { addressFields: fields } = pipeline;
  return [
    rank(pipeline),
    ...(fields === undefined ? [] : [search(pipeline, fields)]),
    explain(pipeline),
    preview(pipeline),
  ];
}

/** A folder of the API. All of it is reserved, for routes of later versions. */
const API_FOLDER = /^\/api\/(?:\w+\/)?v1\/\w+\//;

/** Paths that a pipeline cannot use as its route. An entry that ends with a slash reserves the whole folder. */
export const RESERVED_ROUTES: readonly string[] = [
  ...new Set(
    SERVICE_ROUTES.flatMap(({ path, folder = API_FOLDER.exec(path)?.[0] }) => [
      reservedBy(path),
      ...(folder === undefined ? [] : [folder]),
    ]),
  ),
];
