import type { JsonValue, ListElementType, ValueType } from '../api/types.js';

/** Separates the elements of a list in one cell. */
const LIST_SEPARATOR = '|';
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Converts a CSV cell to JSON, by the type that the project declares for its column. A cell that does not fit stays a
 * string: the check of the upload then rejects it, with its place and what was expected.
 */
export function cellValue(text: string, type: ValueType | undefined): JsonValue {
  switch (type?.kind) {
    case 'int':
    case 'float':
    case 'timestamp':
      return number(text);
    case 'bool':
      return bool(text);
    case 'vector':
      return json(text, '[') ?? text.split(LIST_SEPARATOR).map(number);
    case 'list':
      return json(text, '[') ?? listOf(text, type.of.kind);
    case 'record':
      return json(text, '{') ?? text;
    default:
      return text;
  }
}

/** The elements between separators. An empty cell of a list of numbers is the empty list. */
function listOf(text: string, of: ListElementType['kind']): JsonValue {
  if (of !== 'float') return text.split(LIST_SEPARATOR);
  return text.trim() === '' ? [] : text.split(LIST_SEPARATOR).map(number);
}

function number(text: string): number | string {
  const value = text.trim();
  return NUMBER.test(value) && Number.isFinite(Number(value)) ? Number(value) : text;
}

function bool(text: string): boolean | string {
  switch (text.trim().toLowerCase()) {
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      return text;
  }
}

function json(text: string, opening: string): JsonValue | undefined {
  if (!text.trimStart().startsWith(opening)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
