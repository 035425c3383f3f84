import type { JsonObject, ValueType } from '../api/types.js';
import { TIME_PATTERN, MAX_TIME, MAX_TIME_LENGTH } from './timestamp.js';
import { MAX_FLOAT32 } from './value-fit.js';

/** The types whose values contain no reference. */
type PlainType = Extract<
  ValueType,
  { readonly kind: 'int' | 'float' | 'bool' | 'string' | 'timestamp' | 'vector' }
>;

/** JSON Schema of a time. It accepts what `timestampOf` reads, and also days that do not exist in the calendar. */
export const TIME_SCHEMA = {
  type: ['number', 'string'],
  description: 'Epoch milliseconds, or a date and time of ISO 8601.',
  minimum: -MAX_TIME,
  maximum: MAX_TIME,
  maxLength: MAX_TIME_LENGTH,
  pattern: TIME_PATTERN,
} as const;

/** JSON Schema of the non-null values that `misfit` accepts for the type. */
export function plainSchema(type: PlainType): JsonObject & { readonly type: string | readonly string[] } {
  switch (type.kind) {
    case 'int':
      return { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    case 'float':
      return { type: 'number' };
    case 'bool':
      return { type: 'boolean' };
    case 'string':
      return { type: 'string' };
    case 'timestamp':
      return TIME_SCHEMA;
    case 'vector':
      return {
        type: 'array',
        items: { type: 'number', minimum: -MAX_FLOAT32, maximum: MAX_FLOAT32 },
        minItems: type.size,
        maxItems: type.size,
      };
  }
}
