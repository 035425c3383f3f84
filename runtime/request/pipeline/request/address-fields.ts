import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { pointerTo, Violations } from '../../../ground/core/violations.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';
import { PAGE_FIELDS } from './read-request.js';

/** A field of the body that a parameter of the address fills. */
export interface AddressField {
  /** The name of the field; `parameter` is also a name of it. */
  readonly name: string;
  readonly parameter: string;
  /** For an entity, the field of its id. */
  readonly key?: string;
  readonly type: (typeof SCALARS)[keyof typeof SCALARS];
  readonly optional: boolean;
}

/** The parameter of the query. */
const QUERY = 'q';
/** The kinds of values that one parameter can hold, with their types in JSON Schema. */
const SCALARS = {
  string: 'string',
  ref: 'string',
  int: 'number',
  float: 'number',
  timestamp: 'number',
  bool: 'boolean',
} as const;
const TYPES: ReadonlyMap<string, AddressField['type']> = new Map(Object.entries(SCALARS));

/** The fields of a pipeline's request that one text can stand for: its entities by id, and its scalars. */
export function requestFields(
  { request }: PipelineDefinition,
  entities: ReadonlyMap<string, EntityType>,
): readonly AddressField[] {
  return [...request.fields.values()].flatMap((field): AddressField[] => {
    const { name, optional } = field;
    const isQuery = name === 'query' && !request.fields.has(QUERY);
    const named = { name, optional, parameter: isQuery ? QUERY : name };
    if (field.kind === 'entity')
      return [{ ...named, key: entities.get(field.entity)?.key ?? name, type: 'string' }];
    const type = TYPES.get(field.type.kind);
    return type === undefined ? [] : [{ ...named, type }];
  });
}

/**
 * The parameters that a pipeline takes in the address of a request without a body: its fields, the attributes of the request,
 * the paging and `include_events`.
 */
export function addressFields(
  fields: readonly AddressField[],
  entities: ReadonlyMap<string, EntityType>,
): readonly AddressField[] {
  const others = new Map([
    ...Array.from(
      entities.get('request')?.attributes ?? [],
      ([name, { type }]) => [name, TYPES.get(type.kind)] as const,
    ),
    ...Object.keys(PAGE_FIELDS).map((name) => [name, 'number'] as const),
    ['include_events', 'boolean'] as const,
  ]);
  for (const { name } of fields) others.delete(name);
  return [
    ...fields,
    ...[...others].flatMap(([name, type]): AddressField[] =>
      type === undefined ? [] : [{ name, parameter: name, type, optional: true }],
    ),
  ];
}

/**
 * Makes a body of the parameters of an address. An unknown parameter becomes an unknown field of the body, and a value that
 * does not fit its type stays a text, so the checks of bodies handle both. Parameters with an empty value are ignored: forms
 * send one for each empty field.
 * @throws MillraceError invalid_body if a parameter is repeated
 */
export function bodyOfAddress(url: string, fields: readonly AddressField[]): JsonObject {
  const at = url.indexOf('?');
  const given = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const violations = new Violations();
  const body = new Map<string, JsonValue>();
  for (const [parameter, text] of given) {
    if (text === '') continue;
    const field = fields.find((one) => one.parameter === parameter || one.name === parameter);
    const name = field?.name ?? parameter;
    if (body.has(name))
      violations.add(pointerTo('', name), 'wrong_type', 'expected one value, found several');
    else body.set(name, fieldValue(text, field));
  }
  violations.throwIfAny('The request');
  return Object.fromEntries(body);
}

/** The value of a field of the body that a text or another scalar stands for. */
export function fieldValue(text: JsonValue, field: AddressField | undefined): JsonValue {
  if (field?.key !== undefined) return { [field.key]: text };
  if (typeof text !== 'string') return text;
  if (field?.type === 'number' && Number.isFinite(Number(text)) && text.trim() !== '') return Number(text);
  if (field?.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
