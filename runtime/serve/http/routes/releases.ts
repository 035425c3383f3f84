import { STORE_READ_FAILURES, STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import {
  ROLLBACK_BODY,
  ROLLBACK_END_BODY,
  type NotCarried,
  type ReleaseList,
  type ReleaseState,
  type RollbackEnd,
  type RolledBack,
} from '../../../state/releases/release-answers.js';
import { answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, plainJson } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import { ADMIN_WRITE, type GetRoute, type PostRoute } from '../route.js';
import type { ReleaseService } from '../services.js';

/** A large model takes some time to load. */
export const SLOW_MS = 120_000;

/** The schema of the version of a project. */
export const PROJECT_VERSION = { type: 'string', description: 'Of the content of the files, as in /readyz.' };
const SINCE = { type: 'string', description: 'When the rollback began, ISO 8601.' };

const RELEASE = objectOf<ReleaseState>({
  version: PROJECT_VERSION,
  served: { type: 'string', description: 'When an instance last began to serve it, ISO 8601.' },
  is_kept: { type: 'boolean', description: 'Whether a rollback can bring it back.' },
  detail: { type: ['string', 'null'], description: 'Why it is not kept.' },
  packed_bytes: { type: 'integer', description: 'The bytes of its files, packed.' },
  code: {
    type: 'array',
    items: { type: 'string' },
    description: 'Packages and folders of plugins whose code it needs. A release holds no code.',
  },
});

/** The releases of the service. @throws MillraceError unknown_release */
function served(releases: ReleaseService | undefined): ReleaseService {
  if (releases !== undefined) return releases;
  throw new MillraceError('unknown_release', 'this process keeps no releases');
}

export const listReleases: GetRoute = {
  path: '/api/v1/releases',
  scope: 'admin',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ releases, projectVersion = '' }) =>
    async ({ res }) => {
      const none: ReleaseList = { serving: projectVersion, rollback: null, releases: [] };
      sendJson(res, 200, releases === undefined ? none : await releases.list());
    },
  operation: () => ({
    operationId: 'list_releases',
    tags: ['Service'],
    summary: 'List the releases',
    description: 'The last projects that the service served, and the rollback that holds reloads.',
    responses: {
      200: plainJson(
        'The releases, the one that was served last first.',
        objectOf<ReleaseList>({
          serving: { type: 'string', description: 'The version that this instance serves.' },
          rollback: {
            type: ['object', 'null'],
            required: ['version', 'since'],
            properties: { version: PROJECT_VERSION, since: SINCE },
          },
          releases: { type: 'array', items: RELEASE },
        }),
      ),
      ...problemResponses(['release_unusable', ...STORE_READ_FAILURES]),
    },
  }),
};

export const rollBack: PostRoute = {
  path: '/api/v1/releases/rollback',
  ...ADMIN_WRITE,
  limitMs: ({ requestMs }) => Math.max(requestMs, SLOW_MS),
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () =>
      bodySchema(ROLLBACK_BODY, {
        version: { description: 'The version of a release; null for the one that was served before.' },
      }),
    examples: () => ({ before: { summary: 'to the release before', value: { version: null } } }),
  },
  handler: ({ releases }) => answerWrite((body) => served(releases).rollBack(body)),
  operation: () => ({
    operationId: 'roll_back',
    tags: ['Service'],
    summary: 'Serve an earlier release',
    description:
      'This instance serves the release at once, the others within seconds. Restarts and new instances serve it, too, and ' +
      'reloads wait until the rollback ends. If this instance cannot serve the release, nothing changes.',
    responses: {
      200: jsonAnswer(
        'The release that is served.',
        objectOf<RolledBack>({
          version: PROJECT_VERSION,
          version_before: { type: 'string', description: 'The version that this instance served before.' },
          since: SINCE,
          not_carried: {
            type: 'array',
            description: 'The code of plugins that the release needs and does not hold.',
            items: objectOf<NotCarried>({
              name: { type: 'string' },
              is_same: {
                type: 'boolean',
                description: 'Whether this instance has the code that the release was served with.',
              },
            }),
          },
        }),
        {
          version: '1f0c9a7b2d44',
          version_before: '93ab10c2e5f7',
          since: '2026-11-26T09:00:00.000Z',
          not_carried: [],
        },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_release',
        'release_not_kept',
        'release_unusable',
        ...STORE_WRITE_FAILURES,
      ]),
    },
  }),
};

export const endRollback: PostRoute = {
  path: '/api/v1/releases/end',
  ...ADMIN_WRITE,
  limitMs: ({ requestMs }) => Math.max(requestMs, SLOW_MS),
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () => bodySchema(ROLLBACK_END_BODY, {}),
    examples: () => ({ end: { summary: 'end', value: {} } }),
  },
  handler: ({ releases }) => answerWrite((body) => served(releases).end(body)),
  operation: () => ({
    operationId: 'end_rollback',
    tags: ['Service'],
    summary: 'End a rollback',
    description:
      'All instances load the files of their projects again, and reloads no longer wait. The rollback has ended, too, if the ' +
      'answer is reload_refused or project_invalid: then this instance goes on with what served.',
    responses: {
      200: jsonAnswer(
        'What this instance serves.',
        objectOf<RollbackEnd>({
          version: PROJECT_VERSION,
          version_before: {
            type: ['string', 'null'],
            description: 'The version to which the service was rolled back; null if it was not.',
          },
        }),
        { version: '93ab10c2e5f7', version_before: '1f0c9a7b2d44' },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_release',
        'release_unusable',
        'reload_refused',
        'project_invalid',
        ...STORE_WRITE_FAILURES,
      ]),
    },
  }),
};
