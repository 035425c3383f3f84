import type { EntityType } from '../../config/project/model.js';
import { MAX_BATCH } from '../../index/entity-index.js';
import { ID_SCHEMA } from '../../core/ids.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation, type Schema } from './types.js';
import { exampleFields, ID_OR_NULL, valueSchema } from './value-schema.js';

const TAGS = ['Entities'];
const IDS: Schema = { type: 'array', maxItems: MAX_BATCH, items: ID_SCHEMA };
const TEXT_IDS: Schema = { type: 'array', maxItems: MAX_BATCH, items: { type: 'string' } };

/** The component's name of an entity type. */
export const entitySchemaName = (type: string): string => `entity_${type}`;

export function entitySchema({ name, key, attributes }: EntityType): Schema {
  const properties: [string, Schema][] = [[key, { ...ID_SCHEMA, description: `The ${name}'s id.` }]];
  for (const attribute of attributes.values()) {
    properties.push([attribute.name, valueSchema(attribute.type)]);
    if (attribute.type.kind === 'ref') {
      const description = `Another spelling of \`${attribute.name}\`.`;
      properties.push([`${attribute.name}_id`, { ...ID_OR_NULL, description }]);
    }
  }
  return {
    type: 'object',
    title: name,
    description:
      `\`${key}\` is required, unless \`entity_key\` names another field that holds the id. Attributes that are not listed ` +
      'here are kept as they are.',
    properties: Object.fromEntries(properties),
  };
}

/** An entity that can be uploaded. */
function exampleEntity({ name, key, attributes }: EntityType): Schema {
  return { [key]: exampleId(name), ...exampleFields(attributes.values()) };
}

export const exampleId = (type: string): string => (type === 'query' ? 'some query' : `${type}-1`);

export function uploadEntities(types: readonly EntityType[]): Operation {
  return {
    operationId: 'upload_entities',
    tags: TAGS,
    summary: 'Create or replace entities',
    description:
      'Each entity is stored whole and replaces what the index held under its id. Nothing is stored if any entity is wrong.',
    requestBody: jsonBody(
      oneOfTypes(types, ({ name }) => ({
        title: name,
        type: 'object',
        required: ['entity_type', 'entities'],
        additionalProperties: false,
        properties: {
          entity_type: { type: 'string', const: name },
          entity_key: {
            type: 'string',
            description: 'The field of each entity that holds its id, where it is not the key of the type.',
          },
          entities: {
            type: 'array',
            maxItems: MAX_BATCH,
            items: schemaRef(entitySchemaName(name)),
            description: 'Of entities with the same id the last one is stored.',
          },
        },
      })),
      examplesOf(types, (type) => ({ entity_type: type.name, entities: [exampleEntity(type)] })),
    ),
    responses: {
      200: jsonAnswer('All are stored.', schemaRef('uploaded_ids'), exampleIds(types)),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_entity_type',
        'store_unavailable',
        'store_partial_write',
      ]),
    },
  };
}

export function getEntities(types: readonly EntityType[]): Operation {
  const [first] = types;
  return {
    operationId: 'get_entities',
    tags: TAGS,
    summary: 'Read entities',
    requestBody: jsonBody(schemaRef('entity_ids'), examplesOf(types, idsOf)),
    responses: {
      200: jsonAnswer(
        'The entities as they were uploaded, each with the key of its type, by id; null where the index holds none.',
        {
          type: 'object',
          required: ['entity_type', 'entities'],
          properties: {
            entity_type: { type: 'string' },
            entities: { type: 'object', additionalProperties: { type: ['object', 'null'] } },
          },
        },
        first && { entity_type: first.name, entities: { [exampleId(first.name)]: exampleEntity(first) } },
      ),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_entity_type',
        'store_unavailable',
        'record_unreadable',
      ]),
    },
  };
}

/** Both paths do the same. */
export function deleteEntities(
  types: readonly EntityType[],
  operationId: string,
  summary: string,
): Operation {
  return {
    operationId,
    tags: TAGS,
    summary,
    description: 'An id that the index does not hold is no error.',
    requestBody: jsonBody(schemaRef('entity_ids'), examplesOf(types, idsOf)),
    responses: {
      200: jsonAnswer('None of them is in the index now.', schemaRef('deleted_ids'), exampleIds(types)),
      ...problemResponses([
        ...BODY_PROBLEMS,
        'unknown_entity_type',
        'store_unavailable',
        'store_partial_write',
      ]),
    },
  };
}

/** A type and ids of it: `entity_ids` is what get and delete take, the others are what upload and delete answer. */
export function entityIdsSchemas(types: readonly EntityType[]): [string, Schema][] {
  const names = types.map(({ name }) => name);
  const schema = (ids: Schema, more: Schema = {}): Schema => ({
    type: 'object',
    required: ['entity_type', 'entity_ids'],
    properties: {
      entity_type: { type: 'string', ...(names.length > 0 ? { enum: names } : {}) },
      entity_ids: ids,
      ...more,
    },
  });
  const duplicates = {
    type: 'integer',
    minimum: 1,
    description:
      'Entities that were not stored, since a later one has the same id; left out where there are none.',
  };
  return [
    ['entity_ids', schema(IDS)],
    ['uploaded_ids', schema(TEXT_IDS, { duplicates })],
    ['deleted_ids', schema(TEXT_IDS)],
  ];
}

const idsOf = ({ name }: EntityType): Schema => ({ entity_type: name, entity_ids: [exampleId(name)] });

function exampleIds([first]: readonly EntityType[]): Schema | undefined {
  return first && idsOf(first);
}

/** One of these by entity type; without any type, whatever. */
function oneOfTypes(types: readonly EntityType[], schema: (type: EntityType) => Schema): Schema {
  return types.length === 0 ? { type: 'object' } : { oneOf: types.map(schema) };
}

function examplesOf(types: readonly EntityType[], value: (type: EntityType) => Schema): Schema {
  return Object.fromEntries(types.map((type) => [type.name, { summary: type.name, value: value(type) }]));
}
