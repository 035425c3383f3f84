import type { JsonObject, JsonValue, ListElementType, ValueType } from '../../../ground/api/types.js';
import { pointerTo, shownName, type Violations } from '../../../ground/core/violations.js';
import type { AttributeDefinition, EntityType } from '../../../project/config/model/entities.js';
import { idProblem, idText } from '../../../ground/core/ids.js';
import { nearest } from '../../../ground/core/nearest.js';
import {
  conflict,
  describe,
  describeKind,
  fits,
  isConflict,
  isJsonList,
  isJsonObject,
  misfit,
  own,
  type Show,
} from '../../../ground/core/value-fit.js';
import { carriedId } from './carried.js';

/** Inline references with deeper nesting are rejected. */
const MOST_NESTED = 8;

/** Counts undeclared fields of a body, and rejects them if the pipeline is configured to do so. */
export class UnknownFields {
  /** Number of occurrences, by dotted field of the body without list positions. */
  readonly counts = new Map<string, number>();
  readonly #refusing: Violations | undefined;
  #total = 0;

  /** @param refusing receives a violation for each field; undefined if unknown fields are ignored */
  constructor(refusing?: Violations) {
    this.#refusing = refusing;
  }

  /** Number of occurrences of all fields together. */
  get total(): number {
    return this.#total;
  }

  add(field: string, pointer: string): void {
    this.#total++;
    this.counts.set(field, (this.counts.get(field) ?? 0) + 1);
    this.#refusing?.add(
      pointer,
      'unknown_field',
      'this field is not declared, and the pipeline rejects unknown fields',
    );
  }
}

/** The place of an object in the body, and the receivers of its problems. */
export interface CarriedPlace {
  readonly pointer: string;
  /** Dotted field of the body without list positions; '' for the body itself. */
  readonly field: string;
  readonly violations: Violations;
  readonly unknown: UnknownFields;
  readonly depth?: number;
  /** How messages describe the values here; by default `describe`. */
  readonly show?: Show;
}

type Entities = ReadonlyMap<string, EntityType>;

/**
 * Checks the attributes that the body carries for one entity: declared attributes must fit or be null; others are
 * unknown fields.
 * @returns whether the body carries any declared attribute
 */
export function checkCarried(
  object: JsonObject,
  entity: EntityType,
  extra: ReadonlyMap<string, AttributeDefinition>,
  entities: Entities,
  place: CarriedPlace,
): boolean {
  const definitionOf = (name: string): FieldDefinition | undefined =>
    extra.get(name) ?? entity.attributes.get(name);
  return checkFields(object, definitionOf, entity.key, entities, place);
}

type FieldDefinition = Pick<AttributeDefinition, 'type' | 'isPrivate'>;

/** @param key the field of the id, which is checked separately; undefined for a record */
function checkFields(
  object: JsonObject,
  definitionOf: (name: string) => FieldDefinition | undefined,
  key: string | undefined,
  entities: Entities,
  place: CarriedPlace,
): boolean {
  let carries = false;
  for (const name of Object.keys(object)) {
    if (name === key) continue;
    const type = definitionOf(name)?.type;
    // `brand_id` is the other spelling of `brand: ref(brand)`.
    const reference = type === undefined && name.endsWith('_id') ? name.slice(0, -'_id'.length) : undefined;
    const spelt = reference === undefined ? undefined : definitionOf(reference)?.type;
    const found = type ?? (spelt?.kind === 'ref' ? spelt : undefined);
    if (found === undefined) {
      place.unknown.add(fieldBelow(place, name), pointerTo(place.pointer, name));
      continue;
    }
    carries = true;
    const value = own(object, name);
    if (value === null || value === undefined) continue;
    const isPrivate = (definitionOf(name) ?? definitionOf(reference ?? ''))?.isPrivate === true;
    const inner = {
      ...place,
      pointer: pointerTo(place.pointer, name),
      field: fieldBelow(place, name),
      ...(isPrivate ? { show: describeKind } : {}),
    };
    if (reference !== undefined && spelt?.kind === 'ref')
      checkSpelling(reference, value, spelt, carriedId(object, reference, entities.get(spelt.entity)), inner);
    else checkTyped(value, found, entities, inner);
  }
  return carries;
}

function fieldBelow({ field }: CarriedPlace, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}

/** `brand` (or the id of an inline brand) and `brand_id` must be equal; a conflict is reported once, at `brand_id`. */
function checkSpelling(
  reference: string,
  value: JsonValue,
  type: Extract<ValueType, { kind: 'ref' }>,
  inline: ReturnType<typeof carriedId>,
  place: CarriedPlace,
): void {
  checkFits(value, type, place);
  if (!isConflict(inline, value)) return;
  const { code, detail } = conflict(reference);
  place.violations.add(place.pointer, code, detail);
}

function checkInline(value: JsonObject, type: string, entities: Entities, place: CarriedPlace): void {
  const entity = entities.get(type);
  const depth = (place.depth ?? 0) + 1;
  if (entity === undefined) return;
  if (depth > MOST_NESTED) {
    place.violations.add(
      place.pointer,
      'too_deep',
      `expected at most ${MOST_NESTED} levels of nested entities`,
    );
    return;
  }
  const id = own(value, entity.key);
  if (id !== undefined && id !== null)
    readId(id, pointerTo(place.pointer, entity.key), place.violations, place.show);
  checkCarried(value, entity, new Map(), entities, { ...place, depth });
}

/** The text of an id; an invalid id is reported and returns undefined. */
export function readId(
  value: unknown,
  pointer: string,
  violations: Violations,
  show: Show = describe,
): string | undefined {
  const problem = idProblem(value);
  if (problem === undefined) return idText(value);
  if (value === undefined) violations.add(pointer, 'missing_id', 'expected an id, but it is missing');
  else violations.add(pointer, 'invalid_id', `${problem}, found ${show(value)}`);
  return undefined;
}

/** Further fields of an object are not compared with its key. */
const MOST_COMPARED = 20;

/** The id of an entity in an object of a body. If it is missing, the violation names the field that was probably meant. */
export function readKey(
  sent: JsonObject,
  { name: type, key }: Pick<EntityType, 'name' | 'key'>,
  pointer: string,
  violations: Violations,
): string | undefined {
  const value = own(sent, key);
  if (value !== undefined) return readId(value, pointer, violations);
  const names = Object.keys(sent).slice(0, MOST_COMPARED);
  const meant = names.find((name) => name === 'id' || name === `${type}_id`) ?? nearest(key, names);
  const found = meant === undefined ? '' : `; found ${shownName(meant)}, and the key of ${type} is ${key}`;
  violations.add(pointer, 'missing_id', `expected an id, but it is missing${found}`);
  return undefined;
}

/** Checks a value like an indexed one, except that a reference may be an inline object. */
function checkTyped(value: JsonValue, type: ValueType, entities: Entities, place: CarriedPlace): void {
  if (type.kind === 'record') {
    checkRecord(value, type.fields, entities, place);
  } else if (type.kind === 'ref' && isJsonObject(value)) {
    checkInline(value, type.entity, entities, place);
  } else if (type.kind === 'list' && type.of.kind !== 'string') {
    if (!isJsonList(value)) {
      place.violations.add(
        place.pointer,
        'wrong_type',
        `expected a list, found ${(place.show ?? describe)(value)}`,
      );
      return;
    }
    const isPlain = type.of.kind === 'float';
    for (const [i, element] of value.entries()) {
      // Nothing is made for each of a hundred thousand numbers.
      if (isPlain && fits(element, type.of)) continue;
      checkElement(element, type.of, entities, { ...place, pointer: pointerTo(place.pointer, i) });
    }
  } else {
    checkFits(value, type, place);
  }
}

function checkFits(value: JsonValue, type: ValueType, { pointer, violations, show }: CarriedPlace): void {
  const found = misfit(value, type, show);
  if (found !== undefined) violations.add(pointerTo(pointer, ...found.path), found.code, found.detail);
}

/** Unlike an attribute, an element of a list must not be null. */
function checkElement(
  element: JsonValue,
  type: ListElementType,
  entities: Entities,
  place: CarriedPlace,
): void {
  if (element === null)
    place.violations.add(place.pointer, 'wrong_type', 'expected an element of the list, found null');
  else checkTyped(element, type, entities, place);
}

function checkRecord(
  value: JsonValue,
  fields: ReadonlyMap<string, ValueType>,
  entities: Entities,
  place: CarriedPlace,
): void {
  if (isJsonObject(value)) checkFields(value, (name) => fieldOf(fields, name), undefined, entities, place);
  else
    place.violations.add(
      place.pointer,
      'wrong_type',
      `expected an object, found ${(place.show ?? describe)(value)}`,
    );
}

function fieldOf(fields: ReadonlyMap<string, ValueType>, name: string): FieldDefinition | undefined {
  const type = fields.get(name);
  return type && { type };
}
