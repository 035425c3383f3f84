import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../api/types.js';

/** The JSON Schemas of the YAML files, in `schemas/` beside the compiled code. */
export type SchemaName = 'entity' | 'feature-view' | 'pipeline';

const loaded = new Map<SchemaName, JsonObject>();

export function yamlSchema(name: SchemaName): JsonObject {
  let schema = loaded.get(name);
  if (schema === undefined) {
    const url = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
    schema = JSON.parse(readFileSync(url, 'utf8')) as JsonObject;
    loaded.set(name, schema);
  }
  return schema;
}
