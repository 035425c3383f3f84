import type { EntityType } from '../../../project/config/model/entities.js';
import { ENTITY_SCAN_BODY } from '../../../state/index/export/entity-scan.js';
import { answerRead } from '../handle-body.js';
import { exampleEntity, examplesOf } from '../openapi/entity-schemas.js';
import { entityTypeOf } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { PAGE_PARTS, scanAnswer } from '../openapi/scan-schemas.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, oneOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

export const scanEntities: PostRoute = {
  path: '/api/v1/entities/scan',
  scope: 'entities:read',
  method: 'POST',
  class: 'upload',
  audience: 'operators',
  body: {
    limit: 'otherBytes',
    entityTypes: entityTypeOf,
    schema: () => schemaRef('scan_of_entities'),
    examples: ({ entityTypes }) => examplesOf(entityTypes, ({ name }) => ({ entity_type: name })),
  },
  handler: ({ scans }) => answerRead((body, span) => scans.entities(body, span)),
  operation: ({ entityTypes }) => ({
    operationId: 'scan_entities',
    tags: ['Entities'],
    summary: 'List the entities of a type, page by page',
    description:
      'An entity that exists during the whole scan is listed at least once. One that is written or deleted meanwhile may ' +
      'be listed or not. The order is that of the store.',
    responses: {
      200: jsonAnswer(
        'A page of entities, each as it was uploaded, with the key of its type.',
        scanAnswer(
          'entity_type',
          'entities',
          'Entities that carry another id under the key of their type; the page has the id under which they are stored.',
        ),
        exampleScan([...entityTypes.values()][0]),
      ),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_entity_type', 'store_unavailable']),
    },
  }),
  schemas: ({ entityTypes }) => [
    [
      'scan_of_entities',
      bodySchema(ENTITY_SCAN_BODY, { entity_type: oneOf([...entityTypes.keys()]), ...PAGE_PARTS }),
    ],
  ],
};

function exampleScan(type: EntityType | undefined): Schema | undefined {
  return (
    type && {
      entity_type: type.name,
      entities: [exampleEntity(type)],
      unreadable: [],
      changed: 0,
      cursor: null,
    }
  );
}
