import { plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

/** The schema of an ExperimentState. */
export const EXPERIMENT_STATE: Schema = {
  type: 'object',
  required: ['experiment', 'pipeline', 'mode', 'layer', 'share', 'arms', 'state'],
  properties: {
    experiment: { type: 'string' },
    pipeline: { type: 'string' },
    mode: { type: 'string', enum: ['split', 'interleave', 'shadow'] },
    layer: { type: 'string' },
    share: { type: 'number', minimum: 0, maximum: 1 },
    arms: { type: 'array', items: { type: 'string' } },
    state: { type: 'string', enum: ['running', 'stopped', 'waiting', 'ended'] },
  },
};

export const listExperiments: GetRoute = {
  path: '/api/v1/experiments',
  scope: 'admin',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ experiments }) =>
    (_req, res) => {
      sendJson(res, 200, experiments?.list() ?? { experiments: [] });
    },
  operation: () => ({
    operationId: 'list_experiments',
    tags: ['Service'],
    summary: 'List the experiments',
    description: 'The experiments of the project, each with its state.',
    responses: {
      200: plainJson('The experiments.', {
        type: 'object',
        required: ['experiments'],
        properties: { experiments: { type: 'array', items: EXPERIMENT_STATE } },
      }),
    },
  }),
};
