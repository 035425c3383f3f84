import fc, { type Arbitrary } from 'fast-check';
import { WELL_FORMED } from '../../runtime/ground/core/ids.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Replacements for properties with these names, at any depth. Undefined leaves the property out. */
export type Overrides = Readonly<Record<string, Arbitrary<unknown> | undefined>>;

/** Inline objects below this depth are left out. */
const DEEPEST = 12;

/**
 * Generates values that fit a JSON Schema. It supports the keywords that the service's own schemas use.
 * @param root the schema that references refer to
 */
export function fitting(
  schema: Schema,
  root: Schema,
  overrides: Overrides = {},
  depth = 0,
): Arbitrary<unknown> {
  const within = (inner: unknown): Arbitrary<unknown> =>
    fitting((inner ?? {}) as Schema, root, overrides, depth + 1);
  if (typeof schema.$ref === 'string') return within(target(root, schema.$ref));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const types = [schema.type].flat();
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map(within));
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map(within));
  return fc.oneof(...types.map(typed));

  function typed(type: unknown): Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: bound('minimum', -1e15), max: bound('maximum', 1e15) }).map((n) => n + 0);
      case 'number':
        return fc
          .double({ min: bound('minimum', -1e300), max: bound('maximum', 1e300), noNaN: true })
          .map((n) => n + 0);
      case 'string':
        return text();
      case 'array':
        return list();
      case 'object':
        return object();
      default:
        return fc.constantFrom(null, 1, 'x', [], {});
    }
  }

  function bound(name: 'minimum' | 'maximum', otherwise: number): number {
    const value = schema[name];
    return typeof value === 'number' ? value : otherwise;
  }

  function text(): Arbitrary<string> {
    const { pattern, minLength = 0 } = schema as { pattern?: string; minLength?: number };
    const plain = fc.string({ unit: 'grapheme', minLength, maxLength: minLength + 5 });
    if (pattern === undefined || pattern === WELL_FORMED) return plain;
    return fc.stringMatching(new RegExp(pattern));
  }

  function list(): Arbitrary<unknown[]> {
    const {
      minItems = 0,
      maxItems = Infinity,
      uniqueItems,
    } = schema as {
      minItems?: number;
      maxItems?: number;
      uniqueItems?: boolean;
    };
    const lengths = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, 3)) };
    const items = within(schema.items);
    return uniqueItems === true ? fc.uniqueArray(items, lengths) : fc.array(items, lengths);
  }

  function object(): Arbitrary<unknown> {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    // `if: { not: { oneOf } }, then: { not: {} }`: one of these members has to be there.
    const excluded = (schema.if as Schema | undefined)?.not as
      { oneOf?: { required: string[] }[] } | undefined;
    const choice = excluded?.oneOf ?? [];
    const chosen = choice.flatMap(({ required }) => required);
    const conditional = (schema.then as Schema | undefined) ?? {};
    const thenItems = ((conditional.properties as Schema | undefined)?.entities as Schema | undefined)?.items;
    const members = properties.flatMap(([name, inner]): [string, Arbitrary<unknown>][] => {
      if (name in overrides) return overrides[name] === undefined ? [] : [[name, overrides[name]]];
      if (depth > DEEPEST) return [];
      if (name === 'entities' && thenItems !== undefined) {
        const items = target(root, ((inner.items as Schema).$ref ?? '') as string);
        return [[name, within({ ...inner, items: { ...items, ...(thenItems as Schema) } })]];
      }
      return [[name, within(inner)]];
    });
    const required = ((schema.required ?? []) as string[]).filter((name) =>
      members.some(([own]) => own === name),
    );
    const record = (
      names: readonly (readonly [string, Arbitrary<unknown>])[],
      more: string[],
    ): Arbitrary<unknown> => fc.record(Object.fromEntries(names), { requiredKeys: [...required, ...more] });
    const least = typeof schema.minProperties === 'number' ? schema.minProperties : 0;
    const made =
      chosen.length === 0
        ? record(members, [])
        : fc.oneof(
            ...chosen.map((one) =>
              record(
                members.filter(([name]) => name === one || !chosen.includes(name)),
                [one],
              ),
            ),
          );
    return least === 0 ? made : made.filter((value) => Object.keys(value as object).length >= least);
  }
}

function target(root: Schema, reference: string): Schema {
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return steps.reduce<Schema>(
    (schema, step) => schema[step.replaceAll('~1', '/').replaceAll('~0', '~')] as Schema,
    root,
  );
}
