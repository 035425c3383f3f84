import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Routes {
  readonly SERVICE_ROUTES: readonly { readonly path: string }[];
}

const ROUTE = `import { plainJson } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

export const pipelineLimits: GetRoute = {
  path: '/api/v1/pipelines/:name/limits',
  scope: 'admin',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ pipelines }) =>
    ({ res, params }) => {
      const pipeline = pipelines.find(({ name }) => name === params?.['name']);
      sendJson(res, 200, { known: pipeline !== undefined });
    },
  operation: () => ({
    operationId: 'pipeline_limits',
    tags: ['Service'],
    summary: 'Tell the limits of a pipeline',
    description: 'Whether the project has the pipeline.',
    parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
    responses: {
      200: plainJson('The limits.', {
        type: 'object',
        required: ['known'],
        properties: { known: { type: 'boolean' } },
      }),
    },
  }),
};
`;

export const endpoint: Recipe = {
  title: 'An endpoint',
  most: 2,
  edits: [
    { file: 'runtime/serve/http/routes/pipeline-limits.ts', put: ROUTE },
    {
      file: 'runtime/serve/http/routes.ts',
      find: 'import { pushFeatures }',
      put: "import { pipelineLimits } from './routes/pipeline-limits.js';\nimport { pushFeatures }",
    },
    {
      file: 'runtime/serve/http/routes.ts',
      find: '  uploadEntities,\n',
      put: '  pipelineLimits,\n  uploadEntities,\n',
    },
    {
      file: 'docs/http.md',
      find: '| GET /redoc, GET /openapi.json ',
      put: '| GET /api/v1/pipelines/{name}/limits | → `{known}` |\n| GET /redoc, GET /openapi.json ',
    },
  ],
  tests: [
    'test/http/routes.test.js',
    'test/http/route-parameters.test.js',
    'test/http/dispatch.test.js',
    'test/http/openapi.test.js',
  ],
  async check(load) {
    const { SERVICE_ROUTES } = (await load('runtime/serve/http/routes.js')) as Routes;
    assert.equal(SERVICE_ROUTES[0]?.path, '/api/v1/pipelines/:name/limits');
  },
};
