import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { STATE_BODY } from '../../../request/experiments/experiment-states.js';
import { answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, oneOf } from '../openapi/types.js';
import { ADMIN_WRITE, type PostRoute } from '../route.js';
import { EXPERIMENT_STATE } from './list-experiments.js';

export const stopExperiment = changeState(
  'stop',
  'Stop an experiment',
  'All instances stop it within a second, and it stays stopped after a restart. Its requests are answered as the ' +
    "pipeline's file says.",
);

export const resumeExperiment = changeState(
  'resume',
  'Resume a stopped experiment',
  'All instances go on with it within a second. Every unit gets the arm that it had.',
);

function changeState(verb: 'stop' | 'resume', summary: string, description: string): PostRoute {
  return {
    path: `/api/v1/experiments/${verb}`,
    ...ADMIN_WRITE,
    body: {
      limit: 'otherBytes',
      entityTypes: () => [],
      schema: ({ experimentNames }) =>
        bodySchema(STATE_BODY, {
          experiment: { ...oneOf(experimentNames), description: 'The name of the experiment.' },
        }),
      examples: ({ experimentNames: [experiment] }) =>
        experiment === undefined ? {} : { name: { summary: 'by name', value: { experiment } } },
    },
    handler: ({ experiments }) =>
      answerWrite((body) => {
        if (experiments === undefined)
          throw new MillraceError('unknown_experiment', 'this process serves no experiments');
        return experiments[verb](body);
      }),
    operation: () => ({
      operationId: `${verb}_experiment`,
      tags: ['Service'],
      summary,
      description,
      responses: {
        200: jsonAnswer('Its state.', EXPERIMENT_STATE),
        ...problemResponses([...BODY_PROBLEMS, 'unknown_experiment', ...STORE_WRITE_FAILURES]),
      },
    }),
  };
}
