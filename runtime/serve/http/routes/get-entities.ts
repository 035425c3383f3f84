import { STORE_READ_FAILURES } from '../../../ground/api/error-codes.js';
import type { EntitiesAnswer } from '../../../state/index/entity-index.js';
import { answerRead } from '../handle-body.js';
import { exampleEntity, exampleId, examplesOf, idsOf, sentIds } from '../openapi/entity-schemas.js';
import { entityTypeOf } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, schemaRef } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

const ANSWER = objectOf<EntitiesAnswer>({
  entity_type: { type: 'string' },
  entities: {
    type: 'object',
    additionalProperties: { type: ['object', 'null'], additionalProperties: true },
  },
});

export const getEntities: PostRoute = {
  path: '/api/v1/entities/get',
  scope: 'entities:read',
  audience: 'everyone',
  method: 'POST',
  class: 'online_features',
  body: {
    limit: 'otherBytes',
    entityTypes: entityTypeOf,
    schema: () => schemaRef('sent_ids'),
    examples: ({ entityTypes }) => examplesOf(entityTypes, idsOf),
  },
  handler: ({ entities }) => answerRead((body, span) => entities.get(body, span), 'entity_ids'),
  operation: ({ entityTypes }) => {
    const [first] = entityTypes.values();
    return {
      operationId: 'get_entities',
      tags: ['Entities'],
      summary: 'Read entities',
      description: 'An id that is not stored is answered with null.',
      responses: {
        200: jsonAnswer(
          'The entities as they were uploaded, each with the key of its type, by id; null where the index holds none.',
          ANSWER,
          first && { entity_type: first.name, entities: { [exampleId(first.name)]: exampleEntity(first) } },
        ),
        ...problemResponses([
          ...BODY_PROBLEMS,
          'unknown_entity_type',
          ...STORE_READ_FAILURES,
          'record_unreadable',
        ]),
      },
    };
  },
  schemas: ({ entityTypes }) => [['sent_ids', sentIds(entityTypes)]],
};
