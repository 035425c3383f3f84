import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import type { EntityIdsAnswer } from '../../../state/index/entity-index.js';
import { answerWrite } from '../handle-body.js';
import { exampleIds, examplesOf, idsAnswer, idsOf, sentIds } from '../openapi/entity-schemas.js';
import { entityTypeOf } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, objectOf, schemaRef } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

/** Delete has two paths. Clients of an earlier service use this one. */
export const deleteEntitiesFirstPath = deleteAt(
  '/api/entity/v1/entities/delete',
  'delete_entities',
  'Delete entities',
);

export const deleteEntities = deleteAt(
  '/api/v1/entities/delete',
  'delete_entities_v1',
  'Delete entities, at the path beside the other two',
);

function deleteAt(path: string, operationId: string, summary: string): PostRoute {
  return {
    path,
    scope: 'entities:write',
    method: 'POST',
    class: 'upload',
    writes: true,
    body: {
      limit: 'otherBytes',
      entityTypes: entityTypeOf,
      schema: () => schemaRef('sent_ids'),
      examples: ({ entityTypes }) => examplesOf(entityTypes, idsOf),
    },
    handler: ({ entities }) => answerWrite((body, span) => entities.remove(body, span), 'entity_ids'),
    operation: ({ entityTypes }) => ({
      operationId,
      tags: ['Entities'],
      summary,
      description: 'An id that the index does not hold is no error.',
      responses: {
        200: jsonAnswer(
          'None of them is in the index now.',
          schemaRef('deleted_ids'),
          exampleIds(entityTypes),
        ),
        ...problemResponses([
          ...BODY_PROBLEMS,
          'unknown_entity_type',
          ...STORE_WRITE_FAILURES,
          'store_partial_write',
        ]),
      },
    }),
    schemas: ({ entityTypes }) => [
      ['sent_ids', sentIds(entityTypes)],
      ['deleted_ids', objectOf<EntityIdsAnswer>(idsAnswer(entityTypes))],
    ],
  };
}
