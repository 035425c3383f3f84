import type { JsonObject, JsonValue } from '../../../ground/api/types.js';

/** Says in a few words what an option takes. */
export function takes(schema: JsonObject): string {
  const { millrace } = schema;
  if (typeof millrace === 'string')
    return millrace === 'id' || millrace === 'file' ? millrace : `expression: ${millrace}`;
  if (typeof millrace === 'object' && millrace !== null) {
    const { expression, scope } = millrace as JsonObject;
    return `expression: ${text(expression)}${scope === 'request' ? ', of the request' : ''}`;
  }
  if (Array.isArray(schema.enum))
    return (schema.enum as JsonValue[]).map((one) => `\`${text(one)}\``).join(', ');
  if (schema.const !== undefined) return `\`${text(schema.const)}\``;
  if (schema.items !== undefined) return `list of ${takes(schema.items as JsonObject)}`;
  for (const several of [schema.oneOf, schema.anyOf])
    if (Array.isArray(several)) return several.map((one) => takes(one as JsonObject)).join(', or ');
  return text(schema.type);
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
