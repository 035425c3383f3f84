import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../ground/api/types.js';
import { COMPILED } from '../../../ground/core/locations.js';

/** The JSON Schemas of the YAML files. They are in `schemas/` beside the compiled code. */
export type SchemaName =
  | 'entity'
  | 'feature-view'
  | 'counter'
  | 'pipeline'
  | 'sink'
  | 'source'
  | 'front'
  | 'experiment'
  | 'curation'
  | 'import-map'
  | 'test';

const loaded = new Map<SchemaName, JsonObject>();

export function yamlSchema(name: SchemaName): JsonObject {
  let schema = loaded.get(name);
  if (schema === undefined) {
    const text = readFileSync(join(COMPILED, 'schemas', `${name}.schema.json`), 'utf8');
    schema = JSON.parse(text) as JsonObject;
    loaded.set(name, schema);
  }
  return schema;
}
