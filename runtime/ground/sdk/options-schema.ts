import type { JsonObject } from '../api/types.js';

/**
 * The schema of options that are written in code: others are refused, and one without a `default` is required.
 * @param properties by name: the JSON Schema of the option, with its description
 */
export function optionsSchema(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  const required = Object.keys(properties).filter((name) => properties[name]?.['default'] === undefined);
  return { type: 'object', additionalProperties: false, required, properties };
}
