import type { JoinKeyType } from '../../project/config/model/feast.js';

/** Feast's value types that a feature can have, and the type to declare. Vectors also need a length. */
export const FEATURE_TYPES = {
  INT32: 'int',
  INT64: 'int',
  FLOAT: 'float',
  DOUBLE: 'float',
  BOOL: 'bool',
  STRING: 'string',
  UUID: 'string',
  TIME_UUID: 'string',
  DECIMAL: 'string',
  JSON: 'string',
  UNIX_TIMESTAMP: 'timestamp',
  STRING_LIST: 'list(string)',
  UUID_LIST: 'list(string)',
  TIME_UUID_LIST: 'list(string)',
  DECIMAL_LIST: 'list(string)',
  JSON_LIST: 'list(string)',
  STRING_SET: 'list(string)',
  UUID_SET: 'list(string)',
  TIME_UUID_SET: 'list(string)',
  DECIMAL_SET: 'list(string)',
  INT32_SET: 'list(string)',
  INT64_SET: 'list(string)',
  FLOAT_SET: 'list(string)',
  DOUBLE_SET: 'list(string)',
  BOOL_LIST: 'list(string)',
  BOOL_SET: 'list(string)',
  UNIX_TIMESTAMP_LIST: 'list(string)',
  UNIX_TIMESTAMP_SET: 'list(string)',
  BYTES: 'string',
  PDF_BYTES: 'string',
  IMAGE_BYTES: 'string',
  BYTES_LIST: 'list(string)',
  BYTES_SET: 'list(string)',
  MAP: 'string',
  MAP_LIST: 'list(string)',
  STRUCT: 'string',
  STRUCT_LIST: 'list(string)',
  VALUE_LIST: 'string',
  VALUE_SET: 'string',
  FLOAT_LIST: 'vector(n)',
  DOUBLE_LIST: 'vector(n)',
  INT32_LIST: 'vector(n)',
  INT64_LIST: 'vector(n)',
} as const;

export type FeatureValueType = keyof typeof FEATURE_TYPES;

/**
 * Feast's value types whose texts hold JSON values: numbers, booleans, seconds, maps and nested lists. Bytes are texts
 * in base64.
 */
const JSON_TYPES: ReadonlySet<string> = new Set([
  ...['INT32', 'INT64', 'FLOAT', 'DOUBLE', 'BOOL', 'UNIX_TIMESTAMP'].flatMap((type) => [
    `${type}_LIST`,
    `${type}_SET`,
  ]),
  ...['MAP', 'MAP_LIST', 'STRUCT', 'STRUCT_LIST', 'VALUE_LIST', 'VALUE_SET'],
]);

/** True if a feature of this type, declared as text or a list of texts, holds JSON values. */
export function holdsJson(type: string, declared: string): boolean {
  return JSON_TYPES.has(type) && (declared === 'string' || declared === 'list(string)');
}

/** Feast's value types that a join key can have. */
export const JOIN_KEY_TYPES: Readonly<Record<string, JoinKeyType>> = {
  STRING: 'string',
  INT64: 'int64',
  INT32: 'int32',
  UNIX_TIMESTAMP: 'timestamp',
  BYTES: 'bytes',
};

export function isFeatureValueType(type: string): type is FeatureValueType {
  return Object.hasOwn(FEATURE_TYPES, type);
}
