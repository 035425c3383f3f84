import type { JsonObject, JsonValue, ListElementType, ValueType } from '../api/types.js';
import { pointerTo, type Violations } from '../api/violations.js';
import type { AttributeDefinition, EntityType } from '../config/model.js';
import { idProblem } from '../store/keys.js';
import { conflict, describe, isJsonObject, misfit, own } from '../store/value-fit.js';
import { carriedId } from './carried.js';

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
  if (isJsonObject(value)) checkInline(value, attribute.type.entity, entities, place);
  else checkFits(value, attribute.type, place);
  // `brand`, or the id inside an inline brand, and `brand_id` must agree; told once, at `brand_id`.
  const spelt = own(object, `${attribute.name}_id`);
  if (value !== spelt || typeof spelt !== 'string') return;
  const plain = carriedId(object, attribute.name, entities.get(attribute.type.entity));
  if (plain === undefined || plain === spelt) return;
  const { code, detail } = conflict(attribute.name);
  place.violations.add(place.pointer, code, detail);
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
  if (id !== undefined && id !== null) checkId(id, pointerTo(place.pointer, entity.key), place.violations);
  checkCarried(value, entity, new Map(), entities, { ...place, depth });
}

/** Whether a value is an id; what is wrong with it is told. */
export function checkId(value: unknown, pointer: string, violations: Violations): value is string {
  const problem = idProblem(value);
  if (problem === undefined) return true;
  if (value === undefined) violations.add(pointer, 'missing_id', 'expected an id, and it is missing');
  else violations.add(pointer, 'invalid_id', `${problem}, found ${describe(value)}`);
  return false;
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
      place.violations.add(place.pointer, 'wrong_type', `expected a list, found ${describe(value)}`);
      return;
    }
    (value as readonly JsonValue[]).forEach((element, i) =>
      checkElement(element, type.of, entities, { ...place, pointer: pointerTo(place.pointer, i) }),
    );
  } else {
    checkFits(value, type, place);
  }
}

function checkFits(value: JsonValue, type: ValueType, { pointer, violations }: CarriedPlace): void {
  const found = misfit(value, type);
  if (found !== undefined) violations.add(pointerTo(pointer, ...found.path), found.code, found.detail);
}

function checkElement(
  element: JsonValue,
  type: ListElementType,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (type.kind === 'record') checkRecord(element, type.fields, entities, place);
  else if (type.kind === 'ref' && isJsonObject(element)) checkInline(element, type.entity, entities, place);
  else checkFits(element, type, place);
}

function checkRecord(
  value: JsonValue,
  fields: ReadonlyMap<string, ValueType>,
  entities: ReadonlyMap<string, EntityType>,
  place: CarriedPlace,
): void {
  if (!isJsonObject(value)) {
    place.violations.add(place.pointer, 'wrong_type', `expected an object, found ${describe(value)}`);
    return;
  }
  for (const [name, type] of fields) {
    const field = own(value, name);
    if (field === undefined || field === null) continue;
    const inner = { ...place, pointer: pointerTo(place.pointer, name) };
    if (type.kind === 'ref' && isJsonObject(field)) checkInline(field, type.entity, entities, inner);
    else checkTyped(field, type, entities, inner);
  }
}
