/**
 * The types of attributes and features. They are the same in `schemas/entities`, `schemas/features`, `request:` and on
 * disk.
 */
export type ValueType =
  | { readonly kind: 'int' | 'float' | 'bool' | 'string' | 'timestamp' }
  | { readonly kind: 'vector'; readonly size: number }
  | { readonly kind: 'ref'; readonly entity: string }
  | { readonly kind: 'record'; readonly fields: ReadonlyMap<string, ValueType> }
  | { readonly kind: 'list'; readonly of: ListElementType };

/** The elements of a list: texts, numbers, references, or inline records. */
export type ListElementType =
  | { readonly kind: 'string' | 'float' }
  | { readonly kind: 'ref'; readonly entity: string }
  | { readonly kind: 'record'; readonly fields: ReadonlyMap<string, ValueType> };

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/**
 * The grammar of names of types, attributes, views, features, plugins and pipelines, and of `as` and `define` names.
 */
export const NAME_PATTERN = /^[a-z][a-z0-9_]*$/;

/** The type as a project file spells it, e.g. `list(ref(brand))`. */
export function typeText(type: ValueType): string {
  switch (type.kind) {
    case 'vector':
      return `vector(${String(type.size)})`;
    case 'ref':
      return `ref(${type.entity})`;
    case 'list':
      return type.of.kind === 'record'
        ? `{ list: ${recordText(type.of.fields)} }`
        : `list(${typeText(type.of)})`;
    case 'record':
      return recordText(type.fields);
    default:
      return type.kind;
  }
}

function recordText(fields: ReadonlyMap<string, ValueType>): string {
  return `{ ${[...fields].map(([name, type]) => `${name}: ${typeText(type)}`).join(', ')} }`;
}
