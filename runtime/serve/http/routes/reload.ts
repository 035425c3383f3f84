import { bodySchema, FLAG_FIELD, optional, readBody } from '../../../ground/core/body-fields.js';
import { answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf } from '../openapi/types.js';
import { ADMIN_WRITE, type PostRoute } from '../route.js';
import { PROJECT_VERSION, SLOW_MS } from './releases.js';

const RELOAD_BODY = { force: optional(FLAG_FIELD) };

/** The answer to a reload. */
export interface Reloaded {
  readonly version: string;
}

export const reload: PostRoute = {
  path: '/api/v1/reload',
  ...ADMIN_WRITE,
  limitMs: ({ requestMs }) => Math.max(requestMs, SLOW_MS),
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: () =>
      bodySchema(RELOAD_BODY, {
        force: {
          description:
            'Whether the new project is served even if it does not meet the condition of a reload.',
        },
      }),
    examples: () => ({ reload: { summary: 'reload', value: {} } }),
  },
  handler: ({ instance }) =>
    answerWrite(async (body): Promise<Reloaded> => {
      const { force = false } = readBody(body, RELOAD_BODY, 'the body');
      return { version: await instance.reload(force) };
    }),
  operation: () => ({
    operationId: 'reload',
    tags: ['Service'],
    summary: 'Load the files of the project again',
    description:
      'This instance loads, checks and compiles its files, and then serves them, in all of its processes. If that fails, what ' +
      'served before goes on serving, and the answer says why.',
    responses: {
      200: jsonAnswer('The project that serves.', objectOf<Reloaded>({ version: PROJECT_VERSION })),
      ...problemResponses([...BODY_PROBLEMS, 'reload_refused', 'reload_held', 'project_invalid']),
    },
  }),
};
