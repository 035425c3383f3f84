import { STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { UPDATE_BODY, type EntityIdsAnswer, type UpdateAnswer } from '../../../state/index/entity-index.js';
import { answerWrite } from '../handle-body.js';
import {
  exampleEntity,
  examplesOf,
  idsOf,
  idsAnswer,
  TEXT_IDS,
  withKeys,
  writeParts,
} from '../openapi/entity-schemas.js';
import { entityTypeOf } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { choiceOf, jsonAnswer, objectOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

const CREATE: Schema = {
  description: 'Creates the entities that the index does not hold. By default they are reported as unknown.',
};

const COUNTS: Readonly<Record<Exclude<keyof UpdateAnswer, keyof EntityIdsAnswer>, Schema>> = {
  updated: { type: 'integer' },
  created: { type: 'integer' },
  unknown_ids: { ...TEXT_IDS, description: 'The index does not hold them, so nothing was stored for them.' },
};

export const updateEntities: PostRoute = {
  path: '/api/v1/entities/update',
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
            new Map(Array.from(entityTypes.keys(), (name) => [name, `update_${name}`])),
          ),
    examples: ({ entityTypes }) =>
      examplesOf(entityTypes, (type) => ({
        entity_type: type.name,
        entities: [exampleEntity(type)],
        create: true,
      })),
  },
  handler: ({ entities }) =>
    answerWrite((body, span, _who, coerced) => entities.update(body, span, coerced), 'entities'),
  operation: ({ entityTypes }) => {
    const [first] = entityTypes.values();
    return {
      operationId: 'update_entities',
      tags: ['Entities'],
      summary: 'Change some attributes of entities',
      description:
        'The attributes that an entity has replace those of the index, each as a whole; null removes one. The others stay. ' +
        'Nothing is stored if any entity is wrong.',
      responses: {
        200: jsonAnswer(
          'All are stored, except those that the index does not hold.',
          schemaRef('updated_ids'),
          first && { ...idsOf(first), updated: 0, created: 1, unknown_ids: [] },
        ),
        ...problemResponses([
          ...BODY_PROBLEMS,
          'unknown_entity_type',
          ...STORE_WRITE_FAILURES,
          'store_partial_write',
          'record_unreadable',
        ]),
      },
    };
  },
  schemas: ({ entityTypes }) => {
    return [
      ['updated_ids', objectOf<UpdateAnswer>({ ...idsAnswer(entityTypes), ...COUNTS })],
      ...Array.from(
        entityTypes.values(),
        (type) =>
          [
            `update_${type.name}`,
            withKeys(
              bodySchema(UPDATE_BODY, {
                ...writeParts(type, 'Entities with the same id are merged in their order.'),
                create: CREATE,
              }),
              type,
            ),
          ] as const,
      ),
    ];
  },
};
