import type { ValueType } from '../../../ground/api/types.js';
import type { AttributeDefinition, EntityType } from '../../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';
import type { PageField } from '../../../project/config/project/reserved-names.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { indexFields } from './index-candidates.js';
import { ID_SCHEMA } from '../../../ground/core/ids.js';
import { plainSchema, TIME_SCHEMA } from '../../../ground/core/value-schema.js';
import { INCLUDE_EVENTS, PAGE_FIELDS } from './read-request.js';
import { nullable, reference, type Schema } from './schema-parts.js';

/** Shared input of all parts of one schema. */
interface Context {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** Whether undeclared fields are rejected. */
  readonly closed: boolean;
  /** The definitions that the schema refers to, by name. Their names become the names of types in generated clients. */
  readonly definitions: Record<string, Schema>;
}

const ID = reference('id');
const TIME = reference('time');

/** JSON Schema (2020-12) of the body of a pipeline's route. */
export function requestSchema(
  definition: PipelineDefinition,
  entities: ReadonlyMap<string, EntityType>,
): Schema {
  const { request, task, candidateType } = definition;
  const context: Context = {
    entities,
    closed: request.unknown === 'refuse',
    definitions: { id: ID_SCHEMA, time: TIME_SCHEMA },
  };
  const entity = entities.get(candidateType.value);
  const candidate = `candidate_${definition.name}`;
  context.definitions[candidate] =
    entity === undefined ? {} : entitySchema(entity, request.candidates, context);
  const properties: Schema = {
    // Attributes of the request itself are top-level fields of the body.
    ...attributeSchemas(entities.get('request')?.attributes, context),
    request_id: {
      ...nullable(ID),
      description: 'Identifies the request; generated if absent. Returned in X-Request-Id.',
    },
    ...(task === 'rank'
      ? { candidates: candidatesSchema(definition, reference(candidate)), ...pageSchemas(definition) }
      : {
          [candidateType.value]: {
            ...reference(candidate),
            description: 'The entity to score. Only its id is required; other attributes override the index.',
          },
        }),
    include_events: {
      ...INCLUDE_EVENTS.schema,
      description: 'Also return the events of the request. By default they are left out.',
    },
  };
  const required =
    definition.retrieve === undefined ? [task === 'rank' ? 'candidates' : candidateType.value] : [];
  const either: Schema[] = [];
  for (const field of request.fields.values()) {
    const spelling = field.kind === 'scalar' && field.type.kind === 'ref' ? `${field.name}_id` : undefined;
    if (!field.optional && spelling === undefined) required.push(field.name);
    else if (!field.optional) either.push({ anyOf: [given(field.name), given(spelling ?? '')] });
    const type = field.kind === 'entity' ? entities.get(field.entity) : undefined;
    const schema =
      field.kind === 'scalar'
        ? valueSchema(field.type, context)
        : type === undefined
          ? {}
          : givenEntity(type, context);
    properties[field.name] = {
      ...(field.optional ? nullable(schema) : schema),
      ...(type === undefined
        ? {}
        : { description: `Only ${type.key} is required; other attributes override the index.` }),
    };
    if (spelling !== undefined) {
      const { name } = field;
      properties[spelling] = {
        ...(field.optional ? nullable(ID) : ID),
        description: `Alternative spelling of \`${name}\`: its id.`,
      };
    }
  }
  const missing = { not: either.length === 1 ? either[0] : { allOf: either } };
  const body = (more: Schema = {}): Schema => ({
    ...objectSchema({ ...properties, ...more }, context, required),
    // `if` rather than `allOf`: generators of clients make types of the members of `allOf`.
    ...(either.length === 0 ? {} : { if: missing, then: { not: {} } }),
  });
  const { definitions: $defs } = context;
  if (task === 'score') return { ...body(), $defs };
  // Two bodies rather than two kinds of `candidates`: generators of clients have no type for a list or an object.
  const [sent, indexed] = [`request_${definition.name}`, `index_request_${definition.name}`];
  const found = `index_candidates_${definition.name}`;
  Object.assign($defs, {
    [sent]: body(),
    [indexed]: body({ candidates: reference(found) }),
    [found]: fromIndexSchema(definition),
  });
  return { anyOf: [reference(sent), reference(indexed)], $defs };
}

/** The property is there. */
const given = (name: string): Schema => ({ required: [name], properties: { [name]: {} } });

/** The candidates as a search engine found them. */
function candidatesSchema(
  { limits, candidateType, request, retrieve }: PipelineDefinition,
  candidate: Schema,
): Schema {
  const duplicates =
    request.duplicates === 'refuse'
      ? 'Each id may occur only once.'
      : 'If candidates share an id, the first one is ranked.';
  const found =
    retrieve === undefined ? '' : ' Without this field, the retrievers of the pipeline find them.';
  const list = {
    type: 'array',
    maxItems: limits.candidates,
    items: candidate,
    description: `The ${candidateType.value}s to rank. Only ids are required; other attributes override the index. ${duplicates}${found}`,
  };
  return retrieve === undefined ? list : nullable(list);
}

/** Candidates without a search engine. */
function fromIndexSchema(definition: PipelineDefinition): Schema {
  const entity = definition.candidateType.value;
  return {
    type: 'object',
    description: `The ${entity}s of the index that meet a condition.`,
    ...bodySchema(indexFields(definition), {
      from: {},
      where: {
        description: `A condition on a ${entity}, as an expression; by default all. One that is not known is left out.`,
      },
      limit: { description: 'The most candidates; of more, the first by id are ranked.' },
    }),
    additionalProperties: false,
  };
}

/** The page to return, and the page that the candidates are. */
function pageSchemas(definition: PipelineDefinition): Readonly<Record<PageField, Schema>> {
  const { size } = definition.page;
  const of = (field: PageField, description: string, example?: number): Schema => {
    const { least, most } = PAGE_FIELDS[field];
    const range = { type: ['integer', 'null'], minimum: least, maximum: most(definition) };
    return { ...range, ...(example === undefined ? {} : { examples: [example] }), description };
  };
  return {
    user_page: of('user_page', 'Page to return, from 0. By default 0.', 0),
    user_page_size: of('user_page_size', `Ranked candidates on a page. By default ${size}.`, size),
    candidate_page: of(
      'candidate_page',
      'Page number of `candidates` in the longer candidate list, from 0. By default 0.',
    ),
    candidate_page_size: of(
      'candidate_page_size',
      'Size of a candidate page; defaults to the number of candidates sent.',
    ),
  };
}

/**
 * JSON Schema of an entity that feedback carries: its id and its attributes. Undeclared fields are ignored.
 * @param definitions gets the schemas that this one refers to
 */
export function carriedSchema(
  entity: EntityType,
  entities: ReadonlyMap<string, EntityType>,
  definitions: Record<string, Schema>,
): Schema {
  const schema = entitySchema(entity, new Map(), { entities, closed: false, definitions });
  return { ...schema, properties: { ...(schema.properties as Schema), [entity.key]: ID } };
}

/** An entity of the request other than the candidates. */
function givenEntity(entity: EntityType, context: Context): Schema {
  const name = `${context.closed ? 'closed_' : ''}given_${entity.name}`;
  context.definitions[name] ??= entitySchema(entity, new Map(), context);
  return reference(name);
}

function entitySchema(
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
  context: Context,
): Schema {
  const properties: Schema = {
    // An empty query means browsing.
    [entity.key]: entity.key === 'query' ? { ...ID_SCHEMA, minLength: 0 } : ID,
  };
  for (const attributes of [entity.attributes, extra])
    Object.assign(properties, attributeSchemas(attributes, context));
  return objectSchema(properties, context, [entity.key]);
}

/** Each attribute may be null; a reference has a second spelling. */
function attributeSchemas(
  attributes: ReadonlyMap<string, { readonly type: ValueType }> | undefined,
  context: Context,
): Schema {
  const properties: Schema = {};
  for (const [name, { type }] of attributes ?? []) {
    properties[name] = nullable(valueSchema(type, context));
    if (type.kind === 'ref') properties[`${name}_id`] = nullable(ID);
  }
  return properties;
}

/** Undeclared fields are ignored, unless the pipeline refuses them. It is stated, since some generators assume neither. */
function objectSchema(properties: Schema, { closed }: Context, required: readonly string[] = []): Schema {
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    additionalProperties: !closed,
  };
}

function valueSchema(type: ValueType, context: Context): Schema {
  switch (type.kind) {
    case 'ref':
      return { anyOf: [ID, inlineSchema(type.entity, context)] };
    case 'record':
      return recordSchema(type.fields, context);
    case 'list':
      return {
        type: 'array',
        items:
          type.of.kind === 'record' ? recordSchema(type.of.fields, context) : valueSchema(type.of, context),
      };
    case 'timestamp':
      return TIME;
    default:
      return plainSchema(type);
  }
}

function recordSchema(fields: ReadonlyMap<string, ValueType>, context: Context): Schema {
  const attributes = new Map([...fields].map(([name, type]) => [name, { type }]));
  return objectSchema(attributeSchemas(attributes, context), context);
}

/** An inline entity. Entity types may refer to each other in circles, so each is a definition. */
function inlineSchema(type: string, context: Context): Schema {
  const entity = context.entities.get(type);
  if (entity === undefined) return { type: 'object', description: `A ${type}.`, additionalProperties: true };
  const name = `${context.closed ? 'closed_' : ''}nested_${type}`;
  if (context.definitions[name] === undefined) {
    const definition: Schema = {};
    context.definitions[name] = definition;
    const properties = { [entity.key]: nullable(ID), ...attributeSchemas(entity.attributes, context) };
    Object.assign(definition, objectSchema(properties, context));
  }
  return reference(name);
}
