import type { Span } from '../../../project/config/yaml/source.js';
import type { Comparison } from '../../../language/expression/ast.js';
import { isLiteral } from '../../../language/expression/ast.js';
import type { Operand, OperationOperand } from '../../../language/expression/operand.js';
import {
  ANY,
  exactly,
  intersection,
  isSingle,
  union,
  type Values,
} from '../../../language/expression/values/values.js';
import { valuesOf } from '../../../language/expression/values/values-of.js';
import { keyOf } from './key-of.js';

/** What holds of a part of an expression wherever it has a value, and the filter that makes it so. */
export interface Fact {
  readonly values: Values;
  readonly since: Span | undefined;
}

/** What holds of the candidates at one place of a pipeline, by the key of the part (key-of.ts). */
export type Facts = ReadonlyMap<string, Fact>;

/**
 * What holds where a condition is true or absent. Of `a and b`, both parts hold; of a comparison with a fixed value, the
 * other side lies in a range.
 * @param isTrue whether the condition is true, not absent
 */
export function factsOf(
  condition: Operand,
  scoreSlot: number,
  isTrue: boolean,
  since: Span | undefined,
): Facts {
  const facts = new Map<string, Fact>();
  const add = (operand: Operand, values: Values): void => {
    const key = keyOf(operand, scoreSlot);
    if (key === undefined || operand.tag === 'constant') return;
    const before = facts.get(key);
    facts.set(key, { values: before === undefined ? values : intersection(values, before.values), since });
  };
  collect(condition, isTrue, add);
  return facts;
}

export function together(earlier: Facts, later: Facts): Facts {
  const all = new Map(earlier);
  for (const [key, { values, since }] of later) {
    const before = all.get(key);
    all.set(
      key,
      before === undefined ? { values, since } : { values: intersection(values, before.values), since },
    );
  }
  return all;
}

type Add = (operand: Operand, values: Values) => void;

function collect(condition: Operand, isTrue: boolean, add: Add): void {
  if (condition.tag === 'source') {
    if (condition.meaning !== undefined) collect(condition.meaning, isTrue, add);
    else if (condition.type.kind === 'bool') add(condition, told(exactly(1), isTrue));
    return;
  }
  if (condition.tag !== 'operation') return;
  const { node, args } = condition;
  const [a, b] = args;
  if (a === undefined || a.type.kind === 'list' || b?.type.kind === 'list') return;
  if (node.kind === 'in') collectChoices(condition, a, isTrue, add);
  else if (node.kind === 'call' && node.name === 'known') add(a, { ...ANY, known: 'always' });
  else if (node.kind === 'unary' && node.op === 'not' && a.tag === 'source' && a.type.kind === 'bool')
    add(a, told(exactly(0), isTrue));
  else if (node.kind === 'binary' && b !== undefined) {
    if (node.op === 'and') {
      collect(a, isTrue, add);
      collect(b, isTrue, add);
    } else if (isComparison(node.op)) {
      compare(node.op, a, b, isTrue, add);
      compare(MIRRORED[node.op], b, a, isTrue, add);
    }
  }
}

function told(values: Values, isTrue: boolean): Values {
  return { ...values, known: isTrue ? 'always' : 'sometimes' };
}

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function isComparison(op: string): op is Comparison {
  return Object.hasOwn(MIRRORED, op);
}

/** `part op limit`, where the limit is known. */
function compare(op: Comparison, part: Operand, limit: Operand, isTrue: boolean, add: Add): void {
  const { low, high, texts, known } = valuesOf(limit);
  if (known !== 'always' || limit.tag !== 'constant') return;
  const state: Values['known'] = isTrue ? 'always' : 'sometimes';
  switch (op) {
    case '==':
      if (isSingle({ ...ANY, known, low, high, texts }) || texts !== undefined)
        add(part, { ...ANY, known: state, low, high, texts });
      return;
    case '<':
      add(part, { ...ANY, known: state, high: nextBelow(high) });
      return;
    case '<=':
      add(part, { ...ANY, known: state, high });
      return;
    case '>':
      add(part, { ...ANY, known: state, low: -nextBelow(-low) });
      return;
    case '>=':
      add(part, { ...ANY, known: state, low });
      return;
    case '!=':
      if (isTrue) add(part, { ...ANY, known: 'always' });
  }
}

function collectChoices({ node }: OperationOperand, x: Operand, isTrue: boolean, add: Add): void {
  if (node.kind !== 'in' || node.negated || x.node === node || !node.choices.every(isLiteral)) return;
  const choices = node.choices.flatMap((choice) =>
    choice.kind === 'text' || choice.kind === 'number' ? [exactly(choice.value)] : [],
  );
  if (choices.length === node.choices.length) add(x, told(union(choices, 'always'), isTrue));
}

/** The largest number below another. */
function nextBelow(value: number): number {
  if (!Number.isFinite(value)) return value;
  if (value === 0) return -Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? -1n : 1n);
  return new Float64Array(bits.buffer)[0] ?? value;
}
