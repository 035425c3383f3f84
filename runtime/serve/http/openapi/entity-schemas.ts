import type { EntityType } from '../../../project/config/model/entities.js';
import { MAX_BATCH } from '../../../state/index/entity-index.js';
import { ID, schemaRef, type Schema } from './types.js';
import { exampleFields, fieldSchemas } from './value-schema.js';

type EntityTypes = ReadonlyMap<string, EntityType>;

/** The ids in a request. */
export const SENT_IDS: Schema = { type: 'array', maxItems: MAX_BATCH, items: ID };
/** The ids in an answer. */
export const TEXT_IDS: Schema = { type: 'array', maxItems: MAX_BATCH, items: { type: 'string' } };

/** The name of an entity type's component. */
export const entitySchemaName = (type: string): string => `entity_${type}`;

export function entitySchema({ name, key, attributes }: EntityType): Schema {
  return {
    type: 'object',
    description:
      `\`${key}\` is required, unless \`entity_key\` names another field that holds the id. Attributes that are not listed ` +
      'here are kept as they are.',
    properties: {
      [key]: { ...ID, description: `The ${name}'s id.` },
      ...fieldSchemas(attributes.values()),
    },
    additionalProperties: true,
  };
}

/** The body of a write of entities of one type. @param ofEqualIds what happens to entities with the same id */
export function entitiesSchema({ name, key }: EntityType, ofEqualIds: string, more: Schema = {}): Schema {
  return {
    type: 'object',
    required: ['entity_type', 'entities'],
    properties: {
      entity_type: { type: 'string', const: name },
      entity_key: {
        type: ['string', 'null'],
        minLength: 1,
        description: 'The field of each entity that holds its id, where it is not the key of the type.',
      },
      entities: {
        type: 'array',
        maxItems: MAX_BATCH,
        items: schemaRef(entitySchemaName(name)),
        description: ofEqualIds,
      },
      ...more,
    },
    if: { properties: { entity_key: { enum: [key, null] } } },
    // Linters validate each of these schemas alone, as if it were closed.
    then: {
      properties: {
        entities: { items: { required: [key], properties: { [key]: {} }, additionalProperties: true } },
      },
      additionalProperties: true,
    },
  };
}

/** Builds an example of an entity that can be uploaded. */
export function exampleEntity({ name, key, attributes }: EntityType): Schema {
  return { [key]: exampleId(name), ...exampleFields(attributes.values()) };
}

export const exampleId = (type: string): string => (type === 'query' ? 'some query' : `${type}-1`);

/** The schema of an entity type and ids of that type. */
export function idsSchema(types: EntityTypes, ids: Schema, more: Schema = {}): Schema {
  const names = [...types.keys()];
  return {
    type: 'object',
    required: ['entity_type', 'entity_ids'],
    properties: {
      entity_type: { type: 'string', ...(names.length > 0 ? { enum: names } : {}) },
      entity_ids: ids,
      ...more,
    },
  };
}

export const idsOf = ({ name }: EntityType): Schema => ({ entity_type: name, entity_ids: [exampleId(name)] });

export function exampleIds(types: EntityTypes): Schema | undefined {
  const [first] = types.values();
  return first && idsOf(first);
}

/** Builds one example per entity type. */
export function examplesOf(types: EntityTypes, value: (type: EntityType) => Schema): Schema {
  return Object.fromEntries(
    Array.from(types.values(), (type) => [type.name, { summary: type.name, value: value(type) }]),
  );
}
