import type { ValueType } from '../api/types.js';
import type { AttributeDefinition, EntityType, PipelineDefinition } from '../config/model.js';

type Schema = Record<string, unknown>;

const ID = { type: 'string', minLength: 1, maxLength: 1024 } as const;

/** JSON Schema (2020-12) of the body of a pipeline's route. */
export function requestSchema(
  definition: PipelineDefinition,
  entities: ReadonlyMap<string, EntityType>,
): Schema {
  const { request, limits, page, rank } = definition;
  const candidate = entities.get(rank.value);
  const properties: Schema = {
    request_id: {
      ...ID,
      description: 'Identifies the request; made up when absent. Answered in X-Request-Id.',
    },
    candidates: {
      type: 'array',
      maxItems: limits.candidates,
      description: `The ${rank.value}s to rank; ids alone are enough, what else one carries wins over the index.`,
      items: candidate === undefined ? {} : entitySchema(candidate, request.candidates, entities, 1),
    },
    user_page: { type: 'integer', minimum: 0, default: 0, description: 'Page to answer, from 0.' },
    user_page_size: {
      type: 'integer',
      minimum: 1,
      maximum: page.maxSize,
      default: page.size,
      description: 'Ranked candidates on a page.',
    },
    candidate_page: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'Which page of the longer candidate list `candidates` is, from 0.',
    },
    candidate_page_size: {
      type: 'integer',
      minimum: 0,
      maximum: limits.candidates,
      description: 'Size of the candidate pages; the number of candidates sent when absent.',
    },
    include_events: { type: 'boolean', default: false, description: 'Answer the events of the request too.' },
  };
  const required = ['candidates'];
  for (const field of request.fields.values()) {
    if (!field.optional) required.push(field.name);
    const entity = field.kind === 'entity' ? entities.get(field.entity) : undefined;
    const schema =
      field.kind === 'scalar'
        ? valueSchema(field.type, entities, 1)
        : entity === undefined
          ? {}
          : entitySchema(entity, new Map(), entities, 1);
    properties[field.name] = field.optional ? { anyOf: [schema, { type: 'null' }] } : schema;
  }
  return { type: 'object', required, properties, additionalProperties: request.unknown !== 'refuse' };
}

/** JSON Schema of the answer of a ranking route. */
export function answerSchema(): Schema {
  return {
    type: 'object',
    required: ['ranked_candidates'],
    properties: {
      ranked_candidates: {
        type: 'array',
        description: 'One page, best first.',
        items: {
          type: 'object',
          required: ['candidate_id', 'ranked_score'],
          additionalProperties: false,
          properties: {
            candidate_id: { type: 'string' },
            ranked_score: { type: 'number', description: 'Never increases down the ranking.' },
          },
        },
      },
      events: { type: 'array', items: { type: 'object' }, description: 'Only with include_events.' },
    },
    additionalProperties: false,
  };
}

function entitySchema(
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
  entities: ReadonlyMap<string, EntityType>,
  nesting: number,
): Schema {
  const properties: Schema = {
    [entity.key]: entity.key === 'query' ? { type: 'string', maxLength: 1024 } : ID,
  };
  for (const { name, type } of [...entity.attributes.values(), ...extra.values()]) {
    properties[name] = nullable(valueSchema(type, entities, nesting));
    if (type.kind === 'ref') properties[`${name}_id`] = nullable(ID);
  }
  return { type: 'object', required: [entity.key], properties };
}

function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

function valueSchema(type: ValueType, entities: ReadonlyMap<string, EntityType>, nesting: number): Schema {
  switch (type.kind) {
    case 'int':
      return { type: 'integer' };
    case 'float':
      return { type: 'number' };
    case 'bool':
      return { type: 'boolean' };
    case 'string':
      return { type: 'string' };
    case 'timestamp':
      return {
        anyOf: [
          { type: 'number', description: 'Epoch milliseconds.' },
          { type: 'string', format: 'date-time' },
        ],
      };
    case 'vector':
      return { type: 'array', items: { type: 'number' }, minItems: type.size, maxItems: type.size };
    case 'ref':
      return { anyOf: [ID, inlineSchema(type.entity, entities, nesting)] };
    case 'record':
      return recordSchema(type.fields, entities, nesting);
    case 'list':
      return {
        type: 'array',
        items:
          type.of.kind === 'record'
            ? recordSchema(type.of.fields, entities, nesting)
            : valueSchema(type.of, entities, nesting),
      };
  }
}

function recordSchema(
  fields: ReadonlyMap<string, ValueType>,
  entities: ReadonlyMap<string, EntityType>,
  nesting: number,
): Schema {
  const properties: Schema = {};
  for (const [name, type] of fields) properties[name] = nullable(valueSchema(type, entities, nesting));
  return { type: 'object', properties };
}

/** An inline entity; one level of it is spelt out, since entity types may refer to each other in circles. */
function inlineSchema(type: string, entities: ReadonlyMap<string, EntityType>, nesting: number): Schema {
  const entity = entities.get(type);
  if (entity === undefined || nesting <= 0) return { type: 'object', description: `A ${type}.` };
  const { properties } = entitySchema(entity, new Map(), entities, nesting - 1);
  return { type: 'object', properties };
}
