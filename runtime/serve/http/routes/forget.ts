import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { FORGET_BODY, type ForgetAnswer, REMOVED_COUNTS } from '../../../state/privacy/forget.js';
import { answerWrite } from '../handle-body.js';
import { entityTypeOf } from '../entity-types-of.js';
import { examplesOf, idsOf } from '../openapi/entity-schemas.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { ID, jsonAnswer, objectOf, oneOf } from '../openapi/types.js';
import { ADMIN_WRITE, type PostRoute } from '../route.js';

export const forget: PostRoute = {
  path: '/api/v1/privacy/forget',
  ...ADMIN_WRITE,
  usesLedger: true,
  body: {
    limit: 'otherBytes',
    entityTypes: entityTypeOf,
    schema: ({ entityTypes }) =>
      bodySchema(FORGET_BODY, {
        entity_type: oneOf([...entityTypes.keys()]),
        entity_ids: { items: ID },
        cursor: { description: 'The cursor of the previous answer.' },
      }),
    examples: ({ entityTypes }) => examplesOf(entityTypes, idsOf),
  },
  handler: ({ forget: service }) => answerWrite((body) => service.run(body)),
  operation: () => ({
    operationId: 'forget_entities',
    tags: ['Privacy'],
    summary: 'Forget entities',
    description:
      'Removes the entities from the index, all feature rows whose key names them, and their feedback histories. It also ' +
      'removes their ids from the histories of others. Send the same body again with `cursor` until the answer has none.',
    responses: {
      200: jsonAnswer(
        'What this call removed.',
        objectOf<ForgetAnswer>({
          entity_type: { type: 'string' },
          removed: {
            type: 'object',
            required: REMOVED_COUNTS,
            properties: Object.fromEntries(REMOVED_COUNTS.map((name) => [name, { type: 'integer' }])),
          },
          keys_read: { type: 'integer', description: 'Keys of the store that this call examined.' },
          files: {
            type: 'string',
            enum: ['pending', 'rewritten', 'server'],
            description:
              '`rewritten`: no file of the embedded store has the bytes any more. `server`: the files belong to Redis. ' +
              '`pending`: not yet.',
          },
          copies: {
            type: 'array',
            items: { type: 'string' },
            description: 'Folders with older copies of the embedded store, which you must delete.',
          },
          cursor: { type: ['string', 'null'], description: 'For the next call; null when all is done.' },
        }),
        {
          entity_type: 'user',
          removed: Object.fromEntries(REMOVED_COUNTS.map((name) => [name, 0])),
          keys_read: 100,
          files: 'server',
          copies: [],
          cursor: null,
        },
      ),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_entity_type', ...STORE_WRITE_FAILURES]),
    },
  }),
};
