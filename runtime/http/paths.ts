import { MillraceError } from '../api/errors.js';
import type { Pipeline } from '../pipeline/types.js';

/** Where a pipeline tells why it ranks as it does. */
export const explainPath = (route: string): string => `${route.replace(/\/+$/, '')}/explain`;

/** The routes that every project has. */
export const PATHS = {
  uploadEntities: '/api/v1/entities/upload',
  getEntities: '/api/v1/entities/get',
  deleteEntities: '/api/entity/v1/entities/delete',
  deleteEntitiesToo: '/api/v1/entities/delete',
  pushFeatures: '/api/v1/features/push',
  deleteFeatures: '/api/v1/features/delete',
  feedback: '/api/v1/feedback',
  onlineFeatures: '/feature/get-online-features',
  reference: '/redoc',
  referenceBundle: '/redoc/redoc.standalone.js',
  openapi: '/openapi.json',
  health: '/healthz',
  healthToo: '/healthcheck',
  ready: '/readyz',
  metrics: '/metrics',
} as const;

/**
 * Refuses pipelines whose routes cannot all be answered.
 * @throws MillraceError project_invalid, naming the route and who else has it
 */
export function checkRoutes(pipelines: readonly Pipeline[]): void {
  const owners = new Map<string, string>(Object.values(PATHS).map((path) => [path, 'the service itself']));
  for (const { name, route } of pipelines) {
    const path = route.replace(/\/+$/, ''); // a slash at the end makes no other route
    const owner = owners.get(path);
    if (!path.startsWith('/') || owner !== undefined) {
      const problem = owner === undefined ? 'is no path such as /api/v1/ranking' : `is that of ${owner}`;
      throw new MillraceError('project_invalid', `the route ${route} of the pipeline ${name} ${problem}`);
    }
    owners.set(path, `the pipeline ${name}`);
    const explained = explainPath(path);
    const other = owners.get(explained);
    if (other !== undefined)
      throw new MillraceError(
        'project_invalid',
        `the route ${explained}, which explains the pipeline ${name}, is that of ${other}`,
      );
    owners.set(explained, `the pipeline ${name}, to explain it`);
  }
}

/** A path that express matches as it stands: its pattern signs are escaped. */
export function literalPath(path: string): string {
  return path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
}
