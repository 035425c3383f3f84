import { STORE_READ_FAILURES } from '../../../ground/api/error-codes.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { REBUILD_BODY, REBUILD_STATES, type RebuildState } from '../../feedback/counter-rebuilds.js';
import { answerWrite } from '../handle-body.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, oneOf } from '../openapi/types.js';
import { ADMIN_WRITE, type PostRoute } from '../route.js';

export const rebuildCounter: PostRoute = {
  path: '/api/v1/counters/rebuild',
  ...ADMIN_WRITE,
  usesLedger: true,
  body: {
    limit: 'otherBytes',
    entityTypes: () => [],
    schema: ({ counterNames }) =>
      bodySchema(REBUILD_BODY, {
        counter: { ...oneOf(counterNames), description: 'The name of the counter.' },
        after: {
          description:
            'The generation that served before. With it, nothing is started: the answer tells the state.',
        },
      }),
    examples: ({ counterNames: [counter] }) =>
      counter === undefined ? {} : { name: { summary: 'by name', value: { counter } } },
  },
  handler: ({ counters }) => answerWrite((body) => counters.rebuild(body)),
  operation: () => ({
    operationId: 'rebuild_counter',
    tags: ['Features'],
    summary: 'Count a counter again',
    description:
      'Counts the feedback of the ledger of the service for a counter, beside the counts that serve, and then serves the ' +
      'new ones. The answer comes at once. Send the body again with `after`, the `generation` of the first answer, until ' +
      'the state is not `running`. If the process that counts ends, the state is `failed` within half a minute.',
    responses: {
      200: jsonAnswer(
        'The state of the rebuild.',
        objectOf<RebuildState>({
          counter: { type: 'string' },
          state: { type: 'string', enum: REBUILD_STATES },
          generation: { type: 'integer', description: 'The generation that serves.' },
          detail: { type: ['string', 'null'], description: 'Why the rebuild failed.' },
        }),
        { counter: 'brand_live', state: 'running', generation: 0, detail: null },
      ),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_view', ...STORE_READ_FAILURES]),
    },
  }),
};
