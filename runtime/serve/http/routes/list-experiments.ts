import { YAML_WORDS } from '../../../project/config/model/yaml-keys.generated.js';
import {
  EXPERIMENT_STATES,
  type ExperimentState,
  type ExperimentStates,
} from '../../../request/experiments/experiment-states.js';
import { objectOf, plainJson } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';

/** The schema of an ExperimentState. */
export const EXPERIMENT_STATE = objectOf<ExperimentState>(
  {
    experiment: { type: 'string' },
    pipeline: { type: 'string' },
    mode: { type: 'string', enum: YAML_WORDS['experiment.mode'] },
    layer: { type: 'string' },
    share: { type: 'number', minimum: 0, maximum: 1 },
    assign: { type: 'string' },
    arms: { type: 'array', items: { type: 'string' } },
    state: { type: 'string', enum: EXPERIMENT_STATES },
  },
  ['assign'],
);

export const listExperiments: GetRoute = {
  path: '/api/v1/experiments',
  scope: 'admin',
  audience: 'operators',
  method: 'GET',
  class: 'upload',
  handler:
    ({ experiments }) =>
    ({ res }) => {
      sendJson(res, 200, experiments?.list() ?? { experiments: [] });
    },
  operation: () => ({
    operationId: 'list_experiments',
    tags: ['Service'],
    summary: 'List the experiments',
    description: 'The experiments of the project, each with its state.',
    responses: {
      200: plainJson(
        'The experiments.',
        objectOf<ReturnType<ExperimentStates['list']>>({
          experiments: { type: 'array', items: EXPERIMENT_STATE },
        }),
      ),
    },
  }),
};
