import type { ValueType } from '../../api/types.js';
import type { AttributeDefinition, EntityType, PipelineDefinition } from '../../config/project/model.js';
import type { ExpressionType } from '../../expression/environment.js';
import { LONGEST_WHERE } from '../../compile/compile-filter.js';
import type { Plan } from '../../compile/plan.js';
import { ID_SCHEMA } from '../../core/ids.js';
import { plainSchema } from '../../core/value-schema.js';
import { MOST_PAGES } from './read-request.js';

type Schema = Record<string, unknown>;

/** Shared input of all parts of one schema. */
interface Context {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** Whether undeclared fields are rejected. */
  readonly closed: boolean;
}

/** JSON Schema (2020-12) of the body of a pipeline's route. */
export function requestSchema(
  definition: PipelineDefinition,
  entities: ReadonlyMap<string, EntityType>,
): Schema {
  const { request, task, candidateType } = definition;
  const context = { entities, closed: request.unknown === 'refuse' };
  const entity = entities.get(candidateType.value);
  const candidateSchema = entity === undefined ? {} : entitySchema(entity, request.candidates, context, 1);
  const properties: Schema = {
    // Attributes of the request itself are top-level fields of the body.
    ...attributeSchemas(entities.get('request')?.attributes, context, 1),
    request_id: {
      ...nullable(ID_SCHEMA),
      description: 'Identifies the request; generated if absent. Returned in X-Request-Id.',
    },
    ...(task === 'rank'
      ? candidatesSchema(definition, candidateSchema)
      : {
          [candidateType.value]: {
            ...candidateSchema,
            description: 'The entity to score. Only its id is required; other attributes override the index.',
          },
        }),
    include_events: {
      type: ['boolean', 'null'],
      default: false,
      description: 'Also return the events of the request.',
    },
  };
  const required = [task === 'rank' ? 'candidates' : candidateType.value];
  const either: Schema[] = [];
  for (const field of request.fields.values()) {
    const spelling = field.kind === 'scalar' && field.type.kind === 'ref' ? `${field.name}_id` : undefined;
    if (!field.optional && spelling === undefined) required.push(field.name);
    else if (!field.optional) either.push({ anyOf: [{ required: [field.name] }, { required: [spelling] }] });
    const type = field.kind === 'entity' ? entities.get(field.entity) : undefined;
    const schema =
      field.kind === 'scalar'
        ? valueSchema(field.type, context, 1)
        : type === undefined
          ? {}
          : entitySchema(type, new Map(), context, 1);
    properties[field.name] = {
      ...(field.optional ? nullable(schema) : schema),
      ...(type === undefined
        ? {}
        : { description: `Only ${type.key} is required; other attributes override the index.` }),
    };
    if (spelling !== undefined) {
      const { name } = field;
      properties[spelling] = {
        ...(field.optional ? nullable(ID_SCHEMA) : ID_SCHEMA),
        description: `Alternative spelling of \`${name}\`: its id.`,
      };
    }
  }
  return {
    ...objectSchema(properties, context, required),
    ...(either.length === 0 ? {} : { allOf: either }),
  };
}

/** The fields of a ranking: the candidates, and the page to return. */
function candidatesSchema(
  { limits, page, candidateType, request }: PipelineDefinition,
  candidate: Schema,
): Schema {
  const duplicates =
    request.duplicates === 'refuse'
      ? 'Each id may occur only once.'
      : 'If candidates share an id, the first one is ranked.';
  return {
    candidates: {
      description: `The ${candidateType.value}s to rank. Only ids are required; other attributes override the index. ${duplicates} Without a search engine: those of the index that meet a condition.`,
      anyOf: [
        { type: 'array', maxItems: limits.candidates, items: candidate },
        fromIndexSchema(candidateType.value, limits.candidates),
      ],
    },
    user_page: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: MOST_PAGES,
      default: 0,
      description: 'Page to return, from 0.',
    },
    user_page_size: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: page.maxSize,
      default: page.size,
      description: 'Ranked candidates on a page.',
    },
    candidate_page: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: MOST_PAGES,
      default: 0,
      description: 'Page number of `candidates` in the longer candidate list, from 0.',
    },
    candidate_page_size: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: limits.candidates,
      description: 'Size of a candidate page; defaults to the number of candidates sent.',
    },
  };
}

function fromIndexSchema(entity: string, most: number): Schema {
  return {
    type: 'object',
    required: ['from'],
    properties: {
      from: { const: 'index' },
      where: {
        type: ['string', 'null'],
        maxLength: LONGEST_WHERE,
        description: `A condition on a ${entity}, as an expression; by default all. One that is not known is left out.`,
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: most,
        description: 'The most candidates; of more, the first by id are ranked.',
      },
    },
    additionalProperties: false,
  };
}

/** JSON Schema of an entity that a body carries: its id and its attributes. Undeclared fields are ignored. */
export function carriedSchema(entity: EntityType, entities: ReadonlyMap<string, EntityType>): Schema {
  const schema = entitySchema(entity, new Map(), { entities, closed: false }, 1);
  return { ...schema, properties: { ...(schema.properties as Schema), [entity.key]: ID_SCHEMA } };
}

/** JSON Schema of the answer of a pipeline's route. */
export function answerSchema({ definition, candidateType, answer }: Plan): Schema {
  if (definition.task === 'rank') return RANKING;
  const values = answer.values.map(({ name, type }): [string, Schema] => [name, answeredSchema(type)]);
  const required = [candidateType.key, 'score', ...values.map(([name]) => name)];
  return {
    type: 'object',
    required,
    properties: {
      [candidateType.key]: { type: 'string', description: 'The id of the scored entity.' },
      score: { type: ['number', 'null'], description: 'Null if no step set it.' },
      ...Object.fromEntries(values),
      events: EVENTS,
    },
    additionalProperties: false,
  };
}

/** The value of an expression; null if it is absent for any reason. */
function answeredSchema(type: ExpressionType): Schema {
  if (type.kind === 'list') return nullable({ type: 'array', items: answeredSchema(type.of) });
  if (type.kind === 'vector')
    return nullable({ type: 'array', items: { type: 'number' }, minItems: type.size, maxItems: type.size });
  if (type.kind === 'time') return { type: ['number', 'null'], description: 'Epoch milliseconds.' };
  const name = type.kind === 'bool' ? 'boolean' : type.kind === 'number' ? 'number' : 'string';
  return { type: [name, 'null'] };
}

const EVENTS: Schema = {
  type: 'array',
  items: { type: 'object' },
  description: 'Only with include_events.',
};

const RANKING: Schema = {
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
          ranked_score: { type: 'number', description: 'Never increases from one rank to the next.' },
        },
      },
    },
    events: EVENTS,
  },
  additionalProperties: false,
};

function entitySchema(
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
  context: Context,
  nesting: number,
): Schema {
  const properties: Schema = {
    // An empty query means browsing.
    [entity.key]: entity.key === 'query' ? { ...ID_SCHEMA, minLength: 0 } : ID_SCHEMA,
  };
  for (const attributes of [entity.attributes, extra])
    Object.assign(properties, attributeSchemas(attributes, context, nesting));
  return objectSchema(properties, context, [entity.key]);
}

/** Each attribute may be null; a reference has a second spelling. */
function attributeSchemas(
  attributes: ReadonlyMap<string, { readonly type: ValueType }> | undefined,
  context: Context,
  nesting: number,
): Schema {
  const properties: Schema = {};
  for (const [name, { type }] of attributes ?? []) {
    properties[name] = nullable(valueSchema(type, context, nesting));
    if (type.kind === 'ref') properties[`${name}_id`] = nullable(ID_SCHEMA);
  }
  return properties;
}

function objectSchema(properties: Schema, { closed }: Context, required: readonly string[] = []): Schema {
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...(closed ? { additionalProperties: false } : {}),
  };
}

function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

function valueSchema(type: ValueType, context: Context, nesting: number): Schema {
  switch (type.kind) {
    case 'ref':
      return { anyOf: [ID_SCHEMA, inlineSchema(type.entity, context, nesting)] };
    case 'record':
      return recordSchema(type.fields, context, nesting);
    case 'list':
      return {
        type: 'array',
        items:
          type.of.kind === 'record'
            ? recordSchema(type.of.fields, context, nesting)
            : valueSchema(type.of, context, nesting),
      };
    default:
      return plainSchema(type);
  }
}

function recordSchema(fields: ReadonlyMap<string, ValueType>, context: Context, nesting: number): Schema {
  const attributes = new Map([...fields].map(([name, type]) => [name, { type }]));
  return objectSchema(attributeSchemas(attributes, context, nesting), context);
}

/** An inline entity. Only one level is written out, because entity types may refer to each other in circles. */
function inlineSchema(type: string, context: Context, nesting: number): Schema {
  const entity = context.entities.get(type);
  if (entity === undefined || nesting <= 0) return { type: 'object', description: `A ${type}.` };
  const properties = {
    [entity.key]: nullable(ID_SCHEMA),
    ...attributeSchemas(entity.attributes, context, nesting - 1),
  };
  return objectSchema(properties, context);
}
