import type { JsonObject, JsonValue } from '../runtime/ground/api/types.js';
import { RECORD_KINDS } from '../runtime/ground/api/ledger.js';
import { STATUS_NAMES } from '../runtime/ground/api/status.js';
import { isJsonObject } from '../runtime/ground/core/value-fit.js';
import { expandReferences } from '../runtime/project/config/project/schema-walk.js';

/** Words that are part of the plugin API, by the key whose values they are. */
const API_WORDS: Readonly<Record<string, readonly string[]>> = { take: RECORD_KINDS, statuses: STATUS_NAMES };

/** A JSON Schema with the words of the plugin API, where it lists words of their keys. New words stand last. */
export function withApiWords(schema: JsonValue, key = ''): JsonValue {
  if (Array.isArray(schema)) return schema.map((item) => withApiWords(item as JsonValue, key));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, inner]) => {
      const words = API_WORDS[key];
      if (name !== 'enum' || words === undefined)
        return [name, withApiWords(inner, Object.hasOwn(API_WORDS, name) ? name : key)];
      const listed = (inner as readonly string[]).filter((word) => words.includes(word));
      return [name, [...new Set([...listed, ...words])]];
    }),
  );
}

/** Keywords whose schemas are about the same value. */
const SAME = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * Writes the TypeScript module for the JSON Schemas of YAML files: the keys of each mapping and the words of each key, by
 * their place, such as `pipeline.log`. An item of a list has the place of the list; `*` stands for a key that the user chooses.
 */
export function yamlKeys(schemas: ReadonlyMap<string, JsonObject>): string {
  const keys = new Map<string, Set<string>>();
  const words = new Map<string, readonly string[]>();
  const walk = (schema: JsonValue | undefined, place: string): void => {
    if (!isJsonObject(schema)) return;
    const { properties, additionalProperties, items, enum: choices } = schema;
    if (Array.isArray(choices) && choices.every((word) => typeof word === 'string'))
      words.set(place, [...(words.get(place) ?? []), ...choices]);
    for (const [key, inner] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (!keys.has(place)) keys.set(place, new Set());
      keys.get(place)?.add(key);
      walk(inner, `${place}.${key}`);
    }
    walk(additionalProperties, `${place}.*`);
    walk(items, place);
    for (const keyword of SAME)
      if (Array.isArray(schema[keyword]))
        for (const branch of schema[keyword] as readonly JsonValue[]) walk(branch, place);
  };
  for (const [name, schema] of schemas) walk(expandReferences(schema), name);
  const lists = Array.from(keys, ([place, of]) => [place, [...of]] as const);
  return [
    '// `npm run generate` writes this file from the JSON Schemas.',
    '/** The keys of each mapping. */',
    `export const YAML_KEYS = ${JSON.stringify(Object.fromEntries(lists))} as const;`,
    '/** The words of each key that has a few words as its values. */',
    `export const YAML_WORDS = ${JSON.stringify(Object.fromEntries(words))} as const;`,
    'export type Word<Key extends keyof typeof YAML_WORDS> = (typeof YAML_WORDS)[Key][number];',
    '',
  ].join('\n');
}
