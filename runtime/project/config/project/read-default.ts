import { isScalar, isSeq, type Node } from 'yaml';
import type { JsonValue, ValueType } from '../../../ground/api/types.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import { fits } from '../../../ground/core/value-fit.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { foundWords } from './shape-words.js';
import { itemsOf, spanOf, textOf, type Entry } from '../yaml/tree.js';

/**
 * Reads the `default` of a feature. A default that does not fit the type is reported, and the result is undefined.
 */
export function readDefault(
  { value: node, keyAt }: Entry,
  type: ValueType,
  diagnostics: Diagnostics,
): JsonValue | undefined {
  const read = valueOf(node, type);
  const value = read !== undefined && fits(read, type) ? read : undefined;
  if (value === undefined) {
    const place = node === undefined ? keyAt : spanOf(keyAt.file, node);
    const found = foundWords(keyAt.file, node);
    diagnostics.error(
      'wrong_type',
      place,
      `\`default\`: expected ${defaultWords(type)}, found ${found}`,
      helpFor(node, type),
    );
  }
  return value;
}

function defaultWords(type: ValueType): string {
  switch (type.kind) {
    case 'int':
      return 'a whole number';
    case 'float':
      return 'a number';
    case 'bool':
      return 'true or false';
    case 'string':
      return 'a text';
    case 'timestamp':
      return TIME_FORMS;
    case 'vector':
      return `a list of ${type.size} numbers`;
    case 'list':
      if (type.of.kind === 'float') return 'a list of numbers';
      return type.of.kind === 'ref' ? 'a list of ids' : 'a list of strings';
    default:
      return 'an id';
  }
}

function helpFor(node: Node | undefined, type: ValueType): string | undefined {
  const text = textOf(node);
  return type.kind === 'string' && text !== undefined ? `quote it: "${text}"` : undefined;
}

/** Returns the value if it fits the type. */
function valueOf(node: Node | undefined, type: ValueType): JsonValue | undefined {
  if (type.kind === 'list' || type.kind === 'vector') {
    if (!isSeq(node)) return undefined;
    const items = itemsOf(node).map((item) =>
      valueOf(item, type.kind === 'list' ? type.of : { kind: 'float' }),
    );
    if (type.kind === 'vector' && items.length !== type.size) return undefined;
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (!isScalar(node)) return undefined;
  const { value } = node;
  switch (type.kind) {
    case 'timestamp': {
      const time = timestampOf(value);
      return Number.isNaN(time) ? undefined : time;
    }
    case 'int':
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    case 'float':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'ref':
      return textOf(node);
    case 'record':
      return undefined;
  }
}
