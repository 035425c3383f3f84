import type { ElementType, ExpressionType } from './environment.js';
import type { Operand } from './operand.js';

/** The functions that reduce a list to one value. */
const REDUCING: Readonly<Record<ElementType['kind'], string>> = {
  number: 'reduce it with sum, mean, min, max or count',
  bool: 'reduce it with any, all or count',
  time: 'reduce it with min, max or count',
  text: 'use `"…" in list`, `any(list == "…")` or `count(list)`',
  ref: 'use `"…" in list`, `any(list == "…")` or `count(list)`',
};

/** How to get a value of the wanted kind from an operand of another kind. */
export function helpTowards(
  wanted: Exclude<ExpressionType['kind'], 'ref' | 'record'>,
  operand: Operand,
  label: string,
): string | undefined {
  const { kind } = operand.type;
  if (wanted === 'list') return undefined;
  if (wanted === 'vector')
    return operand.type.kind === 'list' && operand.type.of.kind === 'number'
      ? `a vector has a fixed size: declare the type \`vector(64)\`, or write \`vector(${label}, 64)\`, with the size of your vectors`
      : undefined;
  if (operand.type.kind === 'list') return REDUCING[operand.type.of.kind].replaceAll('list', label);
  if (wanted === 'number') {
    if (kind === 'bool') return `write \`if(${label}, 1, 0)\``;
    if (kind === 'time') return `write \`age_days(${label})\` for how long ago it is`;
    if (isNumberInQuotes(operand)) return `write it without quotes: ${String(operand.value)}`;
  }
  if (wanted === 'bool') {
    if (kind === 'number') return `compare it, as in \`${label} > 0\``;
    if (kind === 'time') return `compare it, as in \`${label} < now()\``;
    if (kind === 'text' || kind === 'ref') return `compare it, as in \`${label} == "…"\``;
  }
  if (wanted === 'text' && isNumberLiteral(operand)) return inQuotes(operand);
  if (wanted === 'time' && operand.tag === 'constant') return 'write a time as `time("2026-01-31")`';
  return undefined;
}

/** Why two values cannot be compared, or cannot be branches of one `if`. */
export function helpForPair(
  a: Operand,
  b: Operand,
  labelOf: (operand: Operand) => string,
): string | undefined {
  const has = (kind: ExpressionType['kind']): Operand | undefined =>
    [a, b].find(({ type }) => type.kind === kind);
  const number = has('number');
  const time = has('time');
  const bool = has('bool');
  if (time !== undefined) {
    if (number !== undefined) return `write \`age_days(${labelOf(time)})\` for how long ago it is`;
    if (has('text') !== undefined) return 'write a time as `time("2026-01-31")`';
  }
  if (bool !== undefined && number !== undefined) {
    const label = labelOf(bool);
    return number.tag === 'constant'
      ? `use a bool by itself: \`${label}\` or \`not ${label}\``
      : `write \`if(${label}, 1, 0)\``;
  }
  const text = has('text') ?? has('ref');
  if (text !== undefined && number !== undefined) {
    if (isNumberLiteral(number)) return inQuotes(number);
    if (isNumberInQuotes(text)) return `write it without quotes: ${String(text.value)}`;
  }
  return undefined;
}

/** A number that stands in the expression, not the name of one. */
function isNumberLiteral(operand: Operand): operand is Operand & { readonly tag: 'constant' } {
  return operand.tag === 'constant' && operand.type.kind === 'number' && operand.node.kind !== 'name';
}

function isNumberInQuotes(operand: Operand): operand is Operand & { readonly tag: 'constant' } {
  if (operand.tag !== 'constant' || typeof operand.value !== 'string') return false;
  return /^-?\d+(\.\d+)?$/.test(operand.value);
}

function inQuotes(number: Operand & { readonly tag: 'constant' }): string {
  return `write texts and ids in quotes: "${String(number.value)}"`;
}
