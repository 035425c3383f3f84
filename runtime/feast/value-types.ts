import type { JoinKeyType } from '../config/project/model.js';

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
  FLOAT_LIST: 'vector(n)',
  DOUBLE_LIST: 'vector(n)',
  INT32_LIST: 'vector(n)',
  INT64_LIST: 'vector(n)',
} as const;

export type FeatureValueType = keyof typeof FEATURE_TYPES;

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
