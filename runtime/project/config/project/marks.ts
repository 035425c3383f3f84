import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';

/** What the keyword `millrace` in a schema says about a string. */
export type Mark =
  | {
      readonly kind: 'expression';
      readonly type: ExpressionMarkType;
      readonly scope: ExpressionMarkScope;
    }
  | { readonly kind: 'id' }
  | { readonly kind: 'file' };

const EXPRESSION_TYPES = ['number', 'bool', 'text', 'texts', 'vector', 'any'] as const;
export type ExpressionMarkType = (typeof EXPRESSION_TYPES)[number];

const EXPRESSION_SCOPES = ['candidate', 'request', 'any'] as const;
export type ExpressionMarkScope = (typeof EXPRESSION_SCOPES)[number];

/**
 * Marks a value that has its own grammar, e.g. a type or a line of `features:`. The reader of the value checks it and
 * reports errors. Only the schemas of project files use this mark.
 */
export const GRAMMAR = 'grammar';

/** Returns the mark of the value that a schema describes. Returns undefined if the keyword is absent or invalid. */
export function markOf(schema: JsonObject): Mark | undefined {
  const mark = schema['millrace'];
  if (mark === 'id' || mark === 'file') return { kind: mark };
  if (isExpressionType(mark)) return { kind: 'expression', type: mark, scope: 'candidate' };
  if (!isJsonObject(mark)) return undefined;
  const { expression, scope = 'candidate' } = mark;
  if (!isExpressionType(expression) || !isExpressionScope(scope)) return undefined;
  return { kind: 'expression', type: expression, scope };
}

/** The marks that a plugin's schema can write as one word. */
export const MARK_WORDS: readonly string[] = [...EXPRESSION_TYPES, 'id', 'file'];

/** True if a value of the keyword is valid in the schema of a plugin. */
export function isMark(mark: JsonValue): boolean {
  if (markOf({ millrace: mark }) === undefined) return false;
  return !isJsonObject(mark) || Object.keys(mark).every((key) => key === 'expression' || key === 'scope');
}

/** Schema of the keyword's values. */
export const MARK_SCHEMA = {
  anyOf: [
    { enum: [...EXPRESSION_TYPES, 'id', 'file', GRAMMAR] },
    {
      type: 'object',
      properties: {
        expression: { enum: EXPRESSION_TYPES },
        scope: { enum: EXPRESSION_SCOPES },
      },
      required: ['expression'],
      additionalProperties: false,
    },
  ],
};

/** Explains the rule for names, with a valid name that is similar to the text. */
export function nameHelp(text: string): string {
  const near = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
  const rule = 'use lowercase letters, digits and _, and start with a letter';
  return NAME_PATTERN.test(near) && near !== text ? `${rule}, for example \`${near}\`` : rule;
}

function isExpressionType(value: JsonValue | undefined): value is ExpressionMarkType {
  return EXPRESSION_TYPES.some((type) => type === value);
}

function isExpressionScope(scope: JsonValue | undefined): scope is ExpressionMarkScope {
  return EXPRESSION_SCOPES.some((one) => one === scope);
}
