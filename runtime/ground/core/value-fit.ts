import type { JsonObject, JsonValue, ValueType } from '../api/types.js';
import { idProblem, idText } from './ids.js';
import { TIME_FORMS, timestampOf } from './timestamp.js';

/** The place in a value that does not fit its type, and why. */
export interface Misfit {
  /** The path from the value to the place. It is empty for the value itself. */
  readonly path: readonly (string | number)[];
  readonly code: 'wrong_type' | 'conflicting_reference';
  /** One sentence that says what was expected and what was found. */
  readonly detail: string;
}

/** Describes a value in a message. */
export type Show = (value: unknown) => string;

/** The largest magnitude of a vector element. Models read vectors as float32, and sums of squares stay finite. */
export const MAX_FLOAT32 = 3.4028234663852886e38;

/**
 * Finds the first place at which a value does not fit its type. Returns undefined if the value fits. Null fits an
 * attribute and a field of an inline record, but not an element of a list. Fields that the record's type does not
 * declare are ignored.
 * @param show describes the value that was found; `describeKind` for a private one
 */
export function misfit(value: JsonValue, type: ValueType, show: Show = describe): Misfit | undefined {
  if (value === null) return undefined;
  switch (type.kind) {
    case 'int':
      return Number.isSafeInteger(value) ? undefined : wrong('a whole number up to 2^53', value, show);
    case 'float':
      return Number.isFinite(value) ? undefined : wrong('a number', value, show);
    case 'bool':
      return typeof value === 'boolean' ? undefined : wrong('true or false', value, show);
    case 'string':
      return typeof value === 'string' ? undefined : wrong('a text', value, show);
    case 'ref':
      return refMisfit(value, type.entity, show);
    case 'timestamp':
      return Number.isNaN(timestampOf(value)) ? wrong(`a time: ${TIME_FORMS}`, value, show) : undefined;
    case 'vector':
      return vectorMisfit(value, type.size, show);
    case 'record':
      return isJsonObject(value) ? recordMisfit(value, type.fields, show) : wrong('an object', value, show);
    case 'list': {
      if (!isJsonList(value)) return wrong('a list', value, show);
      for (let i = 0; i < value.length; i++) {
        const element = value[i] ?? null;
        const found =
          element === null ? wrong(ELEMENT_WORDS[type.of.kind], null, show) : misfit(element, type.of, show);
        if (found !== undefined) return under(i, found);
      }
      return undefined;
    }
  }
}

/** True if a value other than null fits. The store uses it for values that are stored already. */
export function fits(value: JsonValue, type: ValueType): boolean {
  return value !== null && misfit(value, type) === undefined;
}

function refMisfit(value: JsonValue, entity: string, show: Show): Misfit | undefined {
  if (idText(value) === undefined)
    return wrong(`the id of a ${entity}: a text or a whole number up to 2^53 - 1`, value, show);
  const problem = idProblem(value);
  if (problem === undefined) return undefined;
  return { path: [], code: 'wrong_type', detail: `expected the id of a ${entity} or null, but ${problem}` };
}

function vectorMisfit(value: JsonValue, size: number, show: Show): Misfit | undefined {
  const expected = `a list of ${size} numbers`;
  if (!isJsonList(value)) return wrong(expected, value, show);
  if (value.length !== size) return wrong(expected, value, show);
  for (let i = 0; i < size; i++) {
    const element = value[i] ?? null;
    if (typeof element !== 'number' || !(Math.abs(element) <= MAX_FLOAT32)) {
      return under(i, wrong('a number within the range of float32', element, show));
    }
  }
  return undefined;
}

function recordMisfit(
  value: JsonObject,
  fields: ReadonlyMap<string, ValueType>,
  show: Show,
): Misfit | undefined {
  for (const [name, type] of fields) {
    const field = own(value, name);
    const spelt = type.kind === 'ref' && !fields.has(`${name}_id`) ? own(value, `${name}_id`) : undefined;
    if (isConflict(field, spelt)) {
      return under(`${name}_id`, conflict(name));
    }
    const found = field === undefined ? undefined : misfit(field, type, show);
    if (found !== undefined) return under(name, found);
    const foundSpelt = spelt === undefined ? undefined : misfit(spelt, type, show);
    if (foundSpelt !== undefined) return under(`${name}_id`, foundSpelt);
  }
  return undefined;
}

/** True if the two spellings of a reference hold different ids. */
export function isConflict(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  const [id, otherId] = [idText(one), idText(other)];
  return id !== undefined && otherId !== undefined && id !== otherId;
}

/** Describes two spellings of a reference that differ. */
export function conflict(name: string): Misfit {
  const detail = `${name} and ${name}_id are two spellings of one reference, but they hold different ids`;
  return { path: [], code: 'conflicting_reference', detail };
}

const ELEMENT_WORDS = { string: 'a text', float: 'a number', ref: 'an id', record: 'an object' } as const;

function wrong(expected: string, found: JsonValue, show: Show): Misfit {
  return { path: [], code: 'wrong_type', detail: `expected ${expected}, found ${show(found)}` };
}

function under(step: string | number, found: Misfit): Misfit {
  return { ...found, path: [step, ...found.path] };
}

/** The maximum number of characters of a string that a message shows. */
const EXCERPT = 40;

/**
 * Describes a value in a few words. Scalars are shown as a bounded excerpt; lists and objects are never shown in
 * full.
 */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') {
    const cut = value.length > EXCERPT ? `${value.slice(0, EXCERPT)}…` : value;
    return `the text ${JSON.stringify(cut)}`;
  }
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? `the number ${Object.is(value, -0) ? '-0' : value}`
      : 'a number that is too large';
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of length ${value.length}`;
  return 'an object';
}

/** What is wrong with a value that is no object, such as an id where the object around it is due, and how to write it. */
export function noObject(key: string, found: unknown): string {
  const id = idText(found);
  const example = id === undefined || id.length > EXCERPT ? '' : `; write ${JSON.stringify({ [key]: id })}`;
  return `expected an object with ${key}, found ${describe(found)}${example}`;
}

/** Describes what kind of value it is, and nothing of its content. */
export function describeKind(value: unknown): string {
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'true or false';
  return Array.isArray(value) ? 'a list' : describe(value);
}

/** How messages describe a value of an attribute or a feature. */
export function showOf(definition: { readonly isPrivate?: true } | undefined): Show {
  return definition?.isPrivate === true ? describeKind : describe;
}

/** Reads an own property. Inherited properties count as absent. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}
