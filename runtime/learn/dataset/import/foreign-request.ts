import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { ForeignRanking } from '../../../project/foreign/foreign-event.js';

/** Converts a text to the type that the pipeline declares for it. */
export type ConvertText = (text: string, type: ValueType) => JsonValue;

/** Makes the request that the pipeline would have received. Fields that it does not declare are left out. */
export function requestBody(
  { definition, candidateType, entities }: Plan,
  { request, owners, sent, candidates }: ForeignRanking,
  convert: ConvertText,
): JsonObject {
  const body: Record<string, JsonValue> = { request_id: request };
  for (const field of definition.request.fields.values()) {
    const { name } = field;
    if (field.kind === 'scalar') {
      const value = sent[name];
      if (value !== undefined) body[name] = fitted(convert, value, field.type);
      continue;
    }
    const entity = entities.get(field.entity);
    const id = sent[name] ?? owners[name] ?? owners[field.entity];
    const attributes = Object.entries(sent).flatMap(([path, value]): [string, JsonValue][] => {
      const attribute = path.startsWith(`${name}.`) ? path.slice(name.length + 1) : undefined;
      const type = attribute === undefined ? undefined : entity?.attributes.get(attribute)?.type;
      return attribute === undefined
        ? []
        : [[attribute, type === undefined ? value : fitted(convert, value, type)]];
    });
    if (id !== undefined || attributes.length > 0)
      body[name] = {
        ...Object.fromEntries(attributes),
        ...(id === undefined ? {} : { [entity?.key ?? `${field.entity}_id`]: textOf(id) }),
      };
  }
  const typeOf = (name: string): ValueType | undefined =>
    (definition.request.candidates.get(name) ?? candidateType.attributes.get(name))?.type;
  body.candidates = candidates.map(({ id, carried }) => {
    const own: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(carried)) {
      const type = typeOf(name);
      if (type !== undefined) own[name] = fitted(convert, value, type);
    }
    return { ...own, [candidateType.key]: id };
  });
  return body;
}

function fitted(convert: ConvertText, value: JsonValue, type: ValueType): JsonValue {
  if (typeof value === 'string') return convert(value, type);
  return type.kind === 'string' && typeof value !== 'object' ? textOf(value) : value;
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
