import type { JsonObject, JsonValue } from '../../api/types.js';
import { NAME_PATTERN } from '../../api/types.js';

/** What the keyword `millrace` of a schema says of a text. */
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
 * Marks a value that has a grammar of its own, e.g. a type or a line of `features:`. Its reader checks it and says
 * what is wrong; only the schemas of project files use this.
 */
export const GRAMMAR = 'grammar';

/** What a schema says of the value that it describes; undefined where the keyword is absent or wrong. */
export function markOf(schema: JsonObject): Mark | undefined {
  const mark = schema['millrace'];
  if (mark === 'id' || mark === 'file') return { kind: mark };
  if (isExpressionType(mark)) return { kind: 'expression', type: mark, scope: 'candidate' };
  if (!isObject(mark)) return undefined;
  const { expression, scope = 'candidate' } = mark;
  if (!isExpressionType(expression) || !isExpressionScope(scope)) return undefined;
  return { kind: 'expression', type: expression, scope };
}

/** What a plugin's schema can give as one word. */
export const MARK_WORDS: readonly string[] = [...EXPRESSION_TYPES, 'id', 'file'];

/** Whether a value of the keyword means something in the schema of a plugin. */
export function isMark(mark: JsonValue): boolean {
  if (markOf({ millrace: mark }) === undefined) return false;
  return !isObject(mark) || Object.keys(mark).every((key) => key === 'expression' || key === 'scope');
}

/** Schema of the keyword's own values. */
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

/** Why an unmarked name cannot be one; undefined if it can. */
export function nameHelp(text: string): string {
  const near = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
  const rule = 'small letters, digits and _, starting with a letter';
  return NAME_PATTERN.test(near) && near !== text ? `${rule}: \`${near}\`` : rule;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isExpressionType(value: JsonValue | undefined): value is ExpressionMarkType {
  return EXPRESSION_TYPES.some((type) => type === value);
}

function isExpressionScope(scope: JsonValue | undefined): scope is ExpressionMarkScope {
  return EXPRESSION_SCOPES.some((one) => one === scope);
}
