import { MillraceError } from '../api/errors.js';
import type { JsonObject, JsonValue } from '../api/types.js';
import { isBodyList, type BodyList } from './json-list.js';
import { AS_TEXT, didYouMean } from './nearest.js';
import { describe, isJsonObject, own } from './value-fit.js';
import { pointerTo, shownName, Violations } from './violations.js';

/** One field of a request body. The check, the type and the JSON Schema of the body follow from its fields. */
export interface BodyField<T> {
  readonly schema: JsonObject;
  readonly fits: (value: unknown) => value is T;
  /** What is wrong with a value that does not fit. */
  readonly fault: (value: unknown) => BodyFault;
  /** Whether the field may be left out, and whether null means the same; by default it is required. */
  readonly optional?: 'absent' | 'null';
  /** The code if it is required and missing, by default `missing_field`. */
  readonly missing?: string;
}

export interface BodyFault {
  readonly code: string;
  /** Without the name of the field. */
  readonly detail: string;
}

export type BodyFields = Readonly<Record<string, BodyField<unknown>>>;

type OptionalOf<F> = { [K in keyof F]: F[K] extends { readonly optional: string } ? K : never }[keyof F];
type TypeOf<F> = F extends BodyField<infer T> ? T : never;

/** A body with these fields. */
export type BodyOf<F> = { readonly [K in Exclude<keyof F, OptionalOf<F>>]: TypeOf<F[K]> } & {
  readonly [K in OptionalOf<F>]?: TypeOf<F[K]>;
};

/** @param expected how messages name what fits */
export function field<T>(
  schema: JsonObject,
  fits: (value: unknown) => value is T,
  expected: string,
  code = 'wrong_type',
): BodyField<T> {
  return {
    schema,
    fits,
    fault: (value) => ({ code, detail: `expected ${expected}, found ${describe(value)}` }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const textField = (expected = 'a text'): BodyField<string> =>
  field({ type: 'string' }, isText, expected);

export const nameField = (expected: string): BodyField<string> =>
  field(
    { type: 'string', minLength: 1 },
    (value): value is string => isText(value) && value !== '',
    expected,
  );

export const FLAG_FIELD: BodyField<boolean> = field(
  { type: 'boolean' },
  (value): value is boolean => typeof value === 'boolean',
  'true or false',
);

/** @param note says what the limit is */
export function wholeField(least: number, most: number, note = ''): BodyField<number> {
  return field(
    { type: 'integer', minimum: least, maximum: most },
    (value): value is number => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    `a whole number from ${least} to ${most}${note}`,
    'out_of_range',
  );
}

export function listField(most: number, expected = 'a list'): BodyField<BodyList> {
  return {
    schema: { type: 'array', maxItems: most },
    fits: (value): value is BodyList => isBodyList(value) && value.length <= most,
    fault: (value) =>
      isBodyList(value)
        ? { code: 'too_many', detail: `at most ${most}, found ${value.length}` }
        : { code: 'wrong_type', detail: `expected ${expected}, found ${describe(value)}` },
  };
}

/** A list with at least one element. @param of what messages call the elements @param few the code for an empty list */
export function sizedField(
  most: number,
  expected: string,
  { of = '', few }: { readonly of?: string; readonly few: string },
): BodyField<BodyList> {
  const list = listField(most, expected);
  return {
    schema: { type: 'array', minItems: 1, maxItems: most },
    fits: (value): value is BodyList => list.fits(value) && value.length > 0,
    fault: (value) =>
      isBodyList(value)
        ? {
            code: value.length === 0 ? few : 'too_many',
            detail: `expected 1 to ${most}${of}, found ${value.length}`,
          }
        : list.fault(value),
  };
}

export const objectField = (expected: string): BodyField<JsonObject> =>
  field({ type: 'object' }, isJsonObject, expected);

/** The field may be left out. */
export function optional<T>(of: BodyField<T>): BodyField<T> & { readonly optional: 'absent' } {
  return { ...of, optional: 'absent' };
}

/** The field may be left out, or be null, which means the same. */
export function nullable<T>(of: BodyField<T>): BodyField<T> & { readonly optional: 'null' } {
  return {
    ...of,
    schema: { ...of.schema, type: [of.schema['type'] ?? [], 'null'].flat() },
    optional: 'null',
  };
}

/** How messages name a body and its fields. */
interface Naming {
  /** By default, an object with the fields that it must have. */
  readonly expected?: string;
  /** The place of the body. Messages about fields of an inner object do not begin with the name of the field. */
  readonly pointer?: string;
}

/** Reads the fields of a body. Those that are wrong are left out, and reported. */
export function readFields<F extends BodyFields>(
  body: unknown,
  fields: F,
  violations: Violations,
  { expected = `an object with ${requiredOf(fields).join(' and ')}`, pointer }: Naming = {},
): Partial<BodyOf<F>> {
  const read: Record<string, unknown> = {};
  if (!isJsonObject(body)) violations.add('', 'wrong_type', `expected ${expected}, found ${describe(body)}`);
  else
    for (const [name, of] of Object.entries(fields)) {
      const told = pointer === undefined ? `${name}: ` : '';
      const value = readField(own(body, name), of, `${pointer ?? ''}/${name}`, violations, told);
      if (value !== undefined) read[name] = value;
    }
  return read as Partial<BodyOf<F>>;
}

/** Reports the members of a body that are no fields. */
export function refuseOthers(body: unknown, fields: BodyFields, violations: Violations): void {
  const names = Object.keys(fields);
  for (const name of isJsonObject(body) ? Object.keys(body) : [])
    if (!names.includes(name))
      violations.add(pointerTo('', name), 'unknown_field', `the fields are ${names.join(', ')}`);
}

/** Reads one field. @param told the start of a message */
export function readField<T>(
  value: JsonValue | undefined,
  of: BodyField<T>,
  pointer: string,
  violations: Violations,
  told = '',
): T | undefined {
  if (value === undefined ? of.optional !== undefined : value === null && of.optional === 'null')
    return undefined;
  if (of.fits(value)) return value;
  const { code, detail } = of.fault(value);
  violations.add(pointer, value === undefined ? (of.missing ?? 'missing_field') : code, told + detail);
  return undefined;
}

/** The error for a body that is no object. @param what names the body */
export function notAnObject(body: unknown, what: string, expected: string): MillraceError {
  const detail = `expected ${expected}, found ${describe(body)}`;
  return new MillraceError('invalid_body', `${what}: ${detail}`, {
    violations: [{ pointer: '', code: 'wrong_type', detail }],
    extensions: { violation_count: 1 },
  });
}

/** What `readFields` read, if nothing is wrong. @throws MillraceError invalid_body; `what` names the body */
export function allFields<F extends BodyFields>(
  read: Partial<BodyOf<F>>,
  violations: Violations,
  what: string,
): BodyOf<F> {
  violations.throwIfAny(what);
  return read as BodyOf<F>;
}

/** Reads a body. @throws MillraceError invalid_body; `what` names it */
export function readBody<F extends BodyFields>(
  body: unknown,
  fields: F,
  what: string,
  expected?: string,
): BodyOf<F> {
  const violations = new Violations();
  const naming = expected === undefined ? {} : { expected };
  return allFields<F>(readFields(body, fields, violations, naming), violations, what);
}

/** The names of the fields that a body must have. */
export function requiredOf(fields: BodyFields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.optional === undefined);
}

/**
 * Says that nothing has the name that a field of a body holds.
 * @param none what is said instead of the names that there are, if there are none
 */
export function unknownName(
  field: string,
  what: string,
  name: string,
  known: Iterable<string>,
  none = 'there is none',
): string {
  const all = [...known];
  const help = didYouMean(name, all, AS_TEXT) ?? (all.length === 0 ? none : `there are ${all.join(', ')}`);
  return `${field}: no ${what} is called ${JSON.stringify(shownName(name))}; ${help}`;
}

/**
 * The schema of a body. The fields state what the check requires of them. @param parts what the document says besides, of
 * each field in its order: names, elements, a description
 */
export function bodySchema<F extends BodyFields>(
  fields: F,
  parts: { readonly [K in keyof F]: Readonly<Record<string, unknown>> },
): Record<string, unknown> {
  const names = Object.keys(parts);
  const required = requiredOf(fields);
  return {
    type: 'object',
    required: names.filter((name) => required.includes(name)),
    properties: Object.fromEntries(names.map((name) => [name, { ...fields[name]?.schema, ...parts[name] }])),
  };
}
