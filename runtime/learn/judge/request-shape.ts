import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import type { JudgedCandidate, JudgedQuery } from '../evaluation/judgments.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { cellValue } from '../../ground/core/cell-value.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { Contestant } from './contestant.js';

/** How a judged query becomes the body of a request. */
export interface RequestShape {
  /** Field of a candidate's id. */
  readonly candidateKey: string;
  /** The place of the query in the body, e.g. `query.query`; undefined if the request has no field for it. */
  readonly queryPlace: string | undefined;
  /** The entity type of the query; undefined if it is no entity. */
  readonly queryType: string | undefined;
  /** The other fields of the body: columns of the judgments with these names are sent. */
  readonly fields: ReadonlyMap<string, ValueType | undefined>;
  /** Attributes that candidates carry: columns with these names are sent. */
  readonly carried: ReadonlyMap<string, ValueType>;
  /** Attributes of the candidate's entity type. */
  readonly attributes: ReadonlyMap<string, ValueType>;
  bodyOf(query: JudgedQuery, candidates: readonly JudgedCandidate[]): JsonObject;
}

/** A pipeline, and the project whose entity types it names. */
interface ShapedPipeline extends Pick<Contestant, 'definition'> {
  readonly project: Pick<Contestant['project'], 'config'>;
}

type FieldOf = Contestant['definition']['request']['fields'] extends ReadonlyMap<string, infer F> ? F : never;
type Put = (text: string) => JsonObject;

interface Target {
  readonly field: string;
  readonly place: string;
  readonly type: string | undefined;
  readonly put: Put;
}

/** The entity type whose id is the text of a query, and the name of a field that is one. */
const QUERY_TYPE = 'query';

/**
 * Reads from the schema of a pipeline how its requests are made.
 * @param queryField the field that the user names for the query: `FIELD` or `FIELD.ATTRIBUTE`
 * @throws CommandFailure if the field is unknown, or if none is named and several are possible
 */
export function requestShape(contestant: ShapedPipeline, queryField: string | undefined): RequestShape {
  const { definition, project } = contestant;
  const { entities } = project.config;
  const entity = entities.get(definition.candidateType.value);
  const candidateKey = entity?.key ?? `${definition.candidateType.value}_id`;
  const target = targetOf(contestant, queryField);
  const others = [...definition.request.fields.values()].filter(({ name }) => name !== target?.field);
  const puts = new Map(others.map((field) => [field.name, putOf(field, entities)]));
  return {
    candidateKey,
    queryPlace: target?.place,
    queryType: target?.type,
    fields: new Map(others.map((field) => [field.name, field.kind === 'scalar' ? field.type : undefined])),
    carried: typesOf(definition.request.candidates),
    attributes: typesOf(entity?.attributes ?? new Map<string, never>()),
    bodyOf({ query, context }, candidates) {
      const body: Record<string, JsonValue> = { ...target?.put(query) };
      for (const [name, put] of puts) {
        const value = context[name];
        if (value !== undefined)
          Object.assign(body, typeof value === 'string' ? put(value) : { [name]: value });
      }
      body.candidates = candidates.map(({ id, carried }) => ({ ...carried, [candidateKey]: id }));
      return body;
    },
  };
}

function typesOf(
  attributes: ReadonlyMap<string, { readonly type: ValueType }>,
): ReadonlyMap<string, ValueType> {
  return new Map(Array.from(attributes, ([name, { type }]) => [name, type]));
}

function putOf(field: FieldOf, entities: ReadonlyMap<string, EntityType>): Put {
  if (field.kind === 'scalar') return (text) => ({ [field.name]: cellValue(text, field.type) });
  const key = entities.get(field.entity)?.key ?? `${field.entity}_id`;
  return (text) => ({ [field.name]: { [key]: text } });
}

function targetOf(contestant: ShapedPipeline, wanted: string | undefined): Target | undefined {
  const { definition, project } = contestant;
  const { entities } = project.config;
  const fields = [...definition.request.fields.values()];
  if (wanted !== undefined) return namedTarget(contestant, wanted);
  if (fields.length === 0) return undefined;
  const queries = fields.filter(
    (field) => field.name === QUERY_TYPE || (field.kind === 'entity' && field.entity === QUERY_TYPE),
  );
  const required = fields.filter(({ optional }) => !optional);
  const [only, ...more] = [queries, required, fields].find((some) => some.length > 0) ?? [];
  if (only === undefined || more.length > 0)
    throw new CommandFailure(
      `cannot tell which field of a request to ${definition.name} holds the query of the judgments; it has ${fieldList(fields)}`,
      `name it: --query-field ${fields[0]?.name ?? ''}`,
    );
  return toTarget(only, entities);
}

function toTarget(field: FieldOf, entities: ReadonlyMap<string, EntityType>): Target {
  const put = putOf(field, entities);
  if (field.kind === 'scalar') return { field: field.name, place: field.name, type: undefined, put };
  const key = entities.get(field.entity)?.key ?? `${field.entity}_id`;
  return { field: field.name, place: `${field.name}.${key}`, type: field.entity, put };
}

function namedTarget({ definition, project }: ShapedPipeline, wanted: string): Target {
  const { entities } = project.config;
  const [name = '', attribute, ...rest] = wanted.split('.');
  const field = definition.request.fields.get(name);
  if (field === undefined || rest.length > 0) {
    const names = [...definition.request.fields.keys()];
    throw new CommandFailure(
      `a request to ${definition.name} has no field ${wanted}`,
      didYouMean(wanted, names, AS_WORD) ?? `it has ${fieldList([...definition.request.fields.values()])}`,
    );
  }
  if (attribute === undefined) return toTarget(field, entities);
  const entity = field.kind === 'entity' ? entities.get(field.entity) : undefined;
  if (entity?.key === attribute) return toTarget(field, entities);
  const type = entity?.attributes.get(attribute)?.type;
  if (type === undefined) {
    throw new CommandFailure(
      `--query-field ${wanted}: ${name} has no attribute ${attribute}`,
      didYouMean(attribute, entity?.attributes.keys() ?? [], (guess) => `${name}.${guess}`),
    );
  }
  return {
    field: name,
    place: wanted,
    type: undefined,
    put: (text) => ({ [name]: { [attribute]: cellValue(text, type) } }),
  };
}

function fieldList(fields: readonly FieldOf[]): string {
  const words = fields.map((field) =>
    field.kind === 'entity' ? `${field.name} (${field.entity})` : `${field.name} (${field.type.kind})`,
  );
  return words.length === 0 ? 'no field but candidates' : words.join(', ');
}
