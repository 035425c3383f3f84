import type { JsonObject, JsonValue, ListElementType, ValueType } from '../api/types.js';
import { kindOfJson, pointerTo, type Violations } from '../api/violations.js';
import type { AttributeDefinition, EntityType } from '../config/model.js';
import { checkId } from '../store/keys.js';
import { checkValue } from '../entities/check-value.js';
import { carriedId, isObject, own } from './carried.js';

/** Inline references nested deeper than this are refused. */
const MOST_NESTED = 8;

/** Where an object stands in the body, and who is told. */
export interface CarriedPlace {
  readonly pointer: string;
  /** Dotted field of the body, without positions; for counting unknown fields. */
  readonly field: string;
  readonly violations: Violations;
  readonly unknownFields: Map<string, number>;
  readonly depth?: number;
}

/**
 * Checks the attributes that the body carries of one entity: declared ones must fit or be null; others are counted.
 * @returns whether it carries any declared attribute.
 */
export function checkCarried(
  object: JsonObject,
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): boolean {
  let carries = false;
  for (const name in object) {
    if (name === entity.key || !Object.hasOwn(object, name)) continue;
    const attribute = extra.get(name) ?? entity.attributes.get(name) ?? refSpeltById(name, entity, extra);
    if (attribute === undefined) {
      const field = place.field === '' ? name : `${place.field}.${name}`;
      place.unknownFields.set(field, (place.unknownFields.get(field) ?? 0) + 1);
      continue;
    }
    carries = true;
    const value = own(object, name);
    if (value === null || value === undefined) continue;
    const inner = { ...place, pointer: pointerTo(place.pointer, name), field: `${place.field}.${name}` };
    if (attribute.type.kind === 'ref') checkReference(object, attribute, value, entities, inner);
    else checkTyped(value, attribute.type, entities, inner);
  }
  return carries;
}

/** `brand_id` is the other spelling of `brand: ref(brand)`. */
function refSpeltById(
  name: string,
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
): AttributeDefinition | undefined {
  if (!name.endsWith('_id')) return undefined;
  const base = name.slice(0, -'_id'.length);
  const attribute = extra.get(base) ?? entity.attributes.get(base);
  return attribute?.type.kind === 'ref' ? attribute : undefined;
}

function checkReference(
  object: JsonObject,
  attribute: AttributeDefinition,
  value: JsonValue,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (attribute.type.kind !== 'ref') return;
  const target = entities.get(attribute.type.entity);
  if (isObject(value)) checkInline(value, attribute.type.entity, entities, place);
  else {
    const problem = checkId(value);
    if (problem !== undefined) place.violations.add(place.pointer, 'wrong_id', problem);
  }
  // Two spellings of one reference must agree.
  const spelt = own(object, `${attribute.name}_id`);
  const plain = carriedId(Object.fromEntries([[attribute.name, own(object, attribute.name) ?? null]]), attribute.name, target);
  if (typeof spelt === 'string' && plain !== undefined && spelt !== plain && place.pointer.endsWith(attribute.name)) {
    const message = `\`${attribute.name}\` and \`${attribute.name}_id\` name different entities`;
    place.violations.add(place.pointer, 'ids_differ', message);
  }
}

function checkInline(
  value: JsonObject,
  type: string,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  const entity = entities.get(type);
  const depth = (place.depth ?? 0) + 1;
  if (entity === undefined) return;
  if (depth > MOST_NESTED) {
    place.violations.add(place.pointer, 'too_deep', `at most ${MOST_NESTED} nested entities`);
    return;
  }
  const id = own(value, entity.key);
  const problem = id === undefined || id === null ? undefined : checkId(id);
  if (problem !== undefined) place.violations.add(pointerTo(place.pointer, entity.key), 'wrong_id', problem);
  checkCarried(value, entity, new Map(), entities, { ...place, depth });
}

/** Like an indexed value, except that a reference may be an inline object. */
function checkTyped(
  value: JsonValue,
  type: ValueType,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (type.kind === 'record') {
    checkRecord(value, type.fields, entities, place);
  } else if (type.kind === 'list' && type.of.kind !== 'string') {
    if (!Array.isArray(value)) {
      place.violations.add(place.pointer, 'wrong_type', `expected a list, found ${kindOfJson(value)}`);
      return;
    }
    (value as readonly JsonValue[]).forEach((element, i) =>
      checkElement(element, type.of, entities, { ...place, pointer: pointerTo(place.pointer, i) }),
    );
  } else {
    checkValue(value, type, place.pointer, place.violations);
  }
}

function checkElement(
  element: JsonValue,
  type: ListElementType,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (type.kind === 'record') checkRecord(element, type.fields, entities, place);
  else if (type.kind === 'ref' && isObject(element)) checkInline(element, type.entity, entities, place);
  else checkValue(element, type, place.pointer, place.violations);
}

function checkRecord(
  value: JsonValue,
  fields: ReadonlyMap<string, ValueType>,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (!isObject(value)) {
    place.violations.add(place.pointer, 'wrong_type', `expected an object, found ${kindOfJson(value)}`);
    return;
  }
  for (const [name, type] of fields) {
    const field = own(value, name);
    if (field === undefined || field === null) continue;
    const inner = { ...place, pointer: pointerTo(place.pointer, name) };
    if (type.kind === 'ref' && isObject(field)) checkInline(field, type.entity, entities, inner);
    else checkTyped(field, type, entities, inner);
  }
}
