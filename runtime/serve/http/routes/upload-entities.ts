import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { UPLOAD_BODY, type UploadAnswer } from '../../../state/index/entity-index.js';
import { answerWrite } from '../handle-body.js';
import {
  entitySchema,
  entitySchemaName,
  exampleEntity,
  exampleIds,
  examplesOf,
  idsAnswer,
  withKeys,
  writeParts,
} from '../openapi/entity-schemas.js';
import { entityTypeOf } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { choiceOf, jsonAnswer, objectOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

const DUPLICATES: Schema = {
  type: 'integer',
  minimum: 1,
  description:
    'Entities that were not stored, since a later one has the same id; left out where there are none.',
};

export const uploadEntities: PostRoute = {
  path: '/api/v1/entities/upload',
  scope: 'entities:write',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'uploadBytes',
    entityTypes: entityTypeOf,
    schema: ({ entityTypes }) =>
      entityTypes.size === 0
        ? { type: 'object' }
        : choiceOf(
            'entity_type',
            new Map(Array.from(entityTypes.keys(), (name) => [name, `upload_${name}`])),
          ),
    examples: ({ entityTypes }) =>
      examplesOf(entityTypes, (type) => ({ entity_type: type.name, entities: [exampleEntity(type)] })),
  },
  handler: ({ entities }) =>
    answerWrite((body, span, _who, coerced) => entities.upload(body, span, coerced), 'entities'),
  operation: ({ entityTypes }) => ({
    operationId: 'upload_entities',
    tags: ['Entities'],
    summary: 'Create or replace entities',
    description:
      'Each entity is stored whole and replaces what the index held under its id. Nothing is stored if any entity is wrong.',
    responses: {
      200: jsonAnswer('All are stored.', schemaRef('uploaded_ids'), exampleIds(entityTypes)),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_entity_type',
        ...STORE_WRITE_FAILURES,
        'store_partial_write',
      ]),
    },
  }),
  schemas: ({ entityTypes }) => [
    [
      'uploaded_ids',
      objectOf<UploadAnswer>({ ...idsAnswer(entityTypes), duplicates: DUPLICATES }, ['duplicates']),
    ],
    ...Array.from(
      entityTypes.values(),
      (type) =>
        [
          `upload_${type.name}`,
          withKeys(
            bodySchema(UPLOAD_BODY, writeParts(type, 'Of entities with the same id the last one is stored.')),
            type,
          ),
        ] as const,
    ),
    ...Array.from(entityTypes.values(), (type) => [entitySchemaName(type.name), entitySchema(type)] as const),
  ],
};
