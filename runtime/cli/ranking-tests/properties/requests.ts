import { isJsonObject } from '../../../ground/core/value-fit.js';
import type * as FastCheck from 'fast-check';
import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { AttributeDefinition } from '../../../project/config/model/entities.js';
import type { RequestField } from '../../../project/config/model/pipelines.js';
import { idText } from '../../../ground/core/ids.js';
import { itemsIn, member, plain } from '../files/placed.js';
import type { TestCase } from '../files/test-case.js';

type Arbitrary<T> = FastCheck.Arbitrary<T>;

/** Numbers that often show a mistake: none, one, small, large, negative. */
const NUMBERS = [0, 1, 0.5, 3, 10, 250, -1];

/** The most candidates of a generated request: more do not show other mistakes, but cost time. */
const MOST_CANDIDATES = 30;

/**
 * Generates requests that fit the request schema of a pipeline. Candidates and other entities are those that the cases
 * give or send. Optional fields are sometimes missing, and the values of the cases are used again.
 * @param cases with the same data
 */
export function requestsFor(
  fc: typeof FastCheck,
  { definition, candidateType, entities }: Plan,
  cases: readonly TestCase[],
): Arbitrary<JsonObject> {
  const sent = cases.map(({ request }) => plain(request)).filter(isJsonObject);
  const fields: Record<string, Arbitrary<JsonValue | undefined>> = {};
  for (const field of definition.request.fields.values())
    fields[field.name] = fieldOf(fc, field, entities, sent, cases);
  const { key, name } = candidateType;
  const carried = recordOf(fc, definition.request.candidates);
  const ids = idsOf(name, key, cases);
  const bodies = fc.record(fields).map(known);
  if (definition.task === 'score')
    return fc
      .tuple(bodies, fc.constantFrom(...atLeast(ids, 'none')), carried)
      .map(([body, id, more]) => ({ ...body, [name]: { ...more, [key]: id } }));
  const own = new Map(
    sent.flatMap((body) => listOf(body['candidates'])).map((one) => [idText(one[key]) ?? '', one]),
  );
  const candidates = fc
    .shuffledSubarray(ids, {
      minLength: Math.min(1, ids.length),
      maxLength: Math.min(ids.length, MOST_CANDIDATES),
    })
    .chain((chosen) =>
      fc.tuple(
        ...chosen.map((id) =>
          fc.oneof(fc.constant(own.get(id) ?? {}), carried).map((more) => ({ ...more, [key]: id })),
        ),
      ),
    );
  return fc.tuple(bodies, candidates).map(([body, list]) => ({ ...body, candidates: list }));
}

function fieldOf(
  fc: typeof FastCheck,
  field: RequestField,
  entities: Plan['entities'],
  sent: readonly JsonObject[],
  cases: readonly TestCase[],
): Arbitrary<JsonValue | undefined> {
  const seen = sent.flatMap((body) => body[field.name] ?? []);
  let value: Arbitrary<JsonValue | undefined>;
  if (field.kind === 'scalar') value = valueOf(fc, field.type, seen);
  else {
    const key = entities.get(field.entity)?.key ?? `${field.entity}_id`;
    const given = idsOf(field.entity, key, cases).map((id): JsonValue => ({ [key]: id }));
    const all = [...seen, ...given];
    value =
      all.length === 0 && field.optional
        ? fc.constant(undefined)
        : fc.constantFrom(...atLeast(all, { [key]: 'unknown' }));
  }
  return field.optional ? fc.option(value, { nil: undefined }) : value;
}

function valueOf(
  fc: typeof FastCheck,
  type: ValueType,
  seen: readonly JsonValue[],
): Arbitrary<JsonValue | undefined> {
  const known = seen.length === 0 ? [] : [fc.constantFrom(...atLeast(seen, null))];
  switch (type.kind) {
    case 'int':
      return fc.oneof(...known, fc.integer({ min: -3, max: 1000 }));
    case 'float':
      return fc.oneof(...known, fc.constantFrom(...NUMBERS));
    case 'bool':
      return fc.boolean();
    case 'string':
      return fc.oneof(...known, fc.constantFrom('', 'a', 'other'));
    default:
      return known[0] ?? fc.constant(undefined);
  }
}

/** Some of the attributes that a candidate may carry. */
function recordOf(
  fc: typeof FastCheck,
  attributes: ReadonlyMap<string, AttributeDefinition>,
): Arbitrary<JsonObject> {
  const values: Record<string, Arbitrary<JsonValue | undefined>> = {};
  for (const { name, type } of attributes.values())
    values[name] = fc.option(valueOf(fc, type, []), { nil: undefined });
  return fc.record(values).map(known);
}

/** The ids of a type that the cases give, and those of the candidates that they send. */
function idsOf(type: string, key: string, cases: readonly TestCase[]): string[] {
  const ids = new Set<string>();
  for (const { given, request } of cases) {
    const entities = [
      ...itemsIn(member(member(given, 'entities'), type)),
      ...itemsIn(member(request, 'candidates')),
    ];
    for (const one of entities) {
      const id = member(one, key);
      if (id?.kind === 'scalar' && id.value !== null) ids.add(String(id.value));
    }
  }
  return [...ids];
}

function known(values: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : [];
}

function atLeast<T>(values: readonly T[], otherwise: T): readonly [T, ...T[]] {
  const [first = otherwise, ...rest] = values;
  return [first, ...rest];
}
