import type { EntityType } from '../../../project/config/model/entities.js';
import {
  IDS_BODY,
  MAX_BATCH,
  type EntityIdsAnswer,
  type UPLOAD_BODY,
} from '../../../state/index/entity-index.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { ID, oneOf, schemaRef, type Schema } from './types.js';
import { exampleFields, fieldSchemas } from './value-schema.js';

type EntityTypes = ReadonlyMap<string, EntityType>;

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

/** What the document says of the fields of a write. @param ofEqualIds what happens to entities with the same id */
export function writeParts(
  { name }: EntityType,
  ofEqualIds: string,
): Record<keyof typeof UPLOAD_BODY, Schema> {
  return {
    entity_type: { const: name },
    entity_key: {
      description: 'The field of each entity that holds its id, where it is not the key of the type.',
    },
    entities: { items: schemaRef(entitySchemaName(name)), description: ofEqualIds },
  };
}

/** Says of a write of entities that each has the key of the type, unless `entity_key` names another field. */
export function withKeys(body: Schema, { key }: EntityType): Schema {
  return {
    ...body,
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

/** The schema of a body with an entity type and ids of that type. */
export function sentIds(types: EntityTypes): Schema {
  return bodySchema(IDS_BODY, { entity_type: oneOf([...types.keys()]), entity_ids: { items: ID } });
}

/** The properties of an answer with an entity type and ids of that type. */
export function idsAnswer(types: EntityTypes): Readonly<Record<keyof EntityIdsAnswer, Schema>> {
  return { entity_type: oneOf([...types.keys()]), entity_ids: TEXT_IDS };
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
