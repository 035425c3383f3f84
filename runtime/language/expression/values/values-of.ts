import { isLiteral, namesIn, type CallNode, type ExpressionNode, type InNode } from '../ast.js';
import type { Operand, OperationOperand, SourceOperand } from '../operand.js';
import { isTextual, elementOf } from '../types.js';
import { listValues } from './list-values.js';
import {
  andValues,
  arithmeticValues,
  comparisonValues,
  functionValues,
  greatestOf,
  leastOf,
  negated,
  notValues,
} from './number-values.js';
import { lengthValues, lowered, relationValues, uppered } from './text-values.js';
import {
  ANY,
  anyOf,
  canBeEqual,
  EITHER,
  exactly,
  knownOfAll,
  NEVER,
  truth,
  union,
  type Values,
} from './values.js';

/** What is known of named values at one place of a pipeline, in addition to their types; undefined: nothing. */
export type KnownValues = (operand: Operand) => Values | undefined;

const NOTHING: KnownValues = () => undefined;

/**
 * What values an expression can have. It says too little rather than too much: an operation that it does not know can
 * have every value of its type.
 */
export function valuesOf(operand: Operand, known: KnownValues = NOTHING): Values {
  const own = ownValues(operand, known);
  const told = known(operand);
  return told === undefined ? own : narrowed(own, told);
}

function ownValues(operand: Operand, known: KnownValues): Values {
  switch (operand.tag) {
    case 'constant':
      // A param can get another value without a change of the expression.
      if (namesIn(operand.node).length > 0) {
        if (operand.computed !== undefined) return valuesOf(operand.computed, known);
        return rangeOf(operand) ?? anyOf(operand.type);
      }
      return exactly(operand.value);
    case 'source':
      return sourceValues(operand, known);
    case 'operation':
      return operationValues(operand, known);
  }
}

/** The range of a param, if the constant is one. */
function rangeOf(operand: Operand): Values | undefined {
  if (operand.tag !== 'constant' || operand.node.kind !== 'name') return undefined;
  const { low, high } = operand.range ?? { low: -Infinity, high: Infinity };
  return { known: 'always', low, high, whole: false };
}

function sourceValues({ meaning, type }: SourceOperand, known: KnownValues): Values {
  return meaning === undefined ? anyOf(type) : valuesOf(meaning, known);
}

/** `told` holds wherever there is a value. */
function narrowed(own: Values, told: Values): Values {
  if (own.known === 'never' || told.known === 'never') return NEVER;
  const low = Math.max(own.low, told.low);
  const high = Math.min(own.high, told.high);
  const texts =
    own.texts === undefined || told.texts === undefined
      ? (own.texts ?? told.texts)
      : new Set([...own.texts].filter((text) => told.texts?.has(text)));
  if (low > high || texts?.size === 0) return NEVER;
  return { ...own, known: told.known === 'always' ? 'always' : own.known, low, high, texts };
}

function operationValues(operand: OperationOperand, known: KnownValues): Values {
  const { node } = operand;
  const args = operand.args.map((arg) => valuesOf(arg, known));
  const isList = operand.type.kind === 'list';
  const result = ofNode(node, operand, args) ?? anyOf(operand.type);
  // The elements of a list can be unknown. A list without known elements is still a value.
  return isList ? { ...result, known: 'sometimes' } : result;
}

function ofNode(
  node: ExpressionNode,
  operand: OperationOperand,
  args: readonly Values[],
): Values | undefined {
  const [a = ANY, b = ANY] = args;
  switch (node.kind) {
    case 'unary':
      return a.known === 'never' ? NEVER : node.op === 'not' ? notValues(a) : negated(a);
    case 'binary':
      switch (node.op) {
        case 'and':
          return andValues(a, b);
        case 'or':
          return notValues(andValues(notValues(a), notValues(b)));
        case '==':
        case '!=':
        case '<':
        case '<=':
        case '>':
        case '>=':
          return comparisonValues(node.op, a, b);
        default:
          return arithmeticValues(node.op, a, b);
      }
    case 'in':
      return membershipValues(node, operand, args);
    case 'call':
      return callValues(node, operand, args);
    default:
      return undefined;
  }
}

/** `not in` is two operations of one node: the inner one says whether the value is among the choices. */
function membershipValues(node: InNode, { args }: OperationOperand, values: readonly Values[]): Values {
  const [x = ANY, ...choices] = values;
  if (args.length === 1 && args[0]?.node === node) return notValues(x);
  if (x.known === 'never') return NEVER;
  if (args[1]?.type.kind === 'list') return EITHER;
  if (choices.length > 0) {
    // A choice without a value leaves the result open, unless another choice is equal.
    const usable = choices.filter(({ known }) => known !== 'never');
    if (usable.length === 0) return NEVER;
    const isPossible = usable.some((choice) => canBeEqual(x, choice));
    const isFalsePossible = usable.length === choices.length;
    if (!isPossible && !isFalsePossible) return NEVER;
    return truth(isPossible, isFalsePossible, knownOfAll(values) === 'always' ? 'always' : 'sometimes');
  }
  // The choices are literals or params. The kernel has them; here the text of the expression does.
  if (!node.choices.every(isLiteral)) return EITHER;
  const literals = node.choices.map((choice) => exactly(literalValue(choice)));
  const isPossible = literals.some((choice) => canBeEqual(x, choice));
  const { texts } = x;
  const isCertain =
    texts !== undefined && [...texts].every((text) => literals.some((one) => one.texts?.has(text)));
  return truth(isPossible, !isCertain, x.known);
}

function literalValue(node: ExpressionNode): number | string {
  if (node.kind === 'unary') return -Number(literalValue(node.operand));
  if (node.kind === 'bool') return node.value ? 1 : 0;
  return node.kind === 'text' || node.kind === 'number' ? node.value : NaN;
}

function callValues(node: CallNode, operand: OperationOperand, args: readonly Values[]): Values | undefined {
  const [a, b = ANY, c = ANY] = args;
  if (a === undefined) return { ...ANY, known: 'always' }; // now()
  switch (node.name) {
    case 'if':
      return choiceValues(a, b, c);
    case 'coalesce':
      return firstKnown(args);
    case 'known':
      return truth(a.known !== 'never', a.known !== 'always', 'always');
  }
  const first = operand.args[0];
  if (first?.type.kind === 'list') {
    const isReduced = operand.type.kind !== 'list';
    if (isReduced) return listValues(node.name, a, elementOf(first.type));
  }
  if (knownOfAll(args) === 'never') return NEVER;
  switch (node.name) {
    case 'min':
      return leastOf(a, b);
    case 'max':
      return greatestOf(a, b);
    case 'clamp':
      // Two operations of one node: the inner one gives at least `low`.
      return first?.node === node ? leastOf(a, b) : greatestOf(a, b);
    case 'pow':
      return { ...ANY, low: a.low >= 0 ? 0 : -Infinity };
    case 'days':
    case 'hours':
      return arithmeticValues('*', a, b);
    case 'hour':
      return { known: 'sometimes', low: 0, high: 23, whole: true };
    case 'minute':
    case 'second':
      return { known: 'sometimes', low: 0, high: 59, whole: true };
    case 'weekday':
      return { known: 'sometimes', low: 1, high: 7, whole: true };
    case 'day_of_month':
      return { known: 'sometimes', low: 1, high: 31, whole: true };
    case 'month':
      return { known: 'sometimes', low: 1, high: 12, whole: true };
    case 'length':
      return lengthValues(a);
    case 'lower':
      return lowered(a);
    case 'upper':
      return uppered(a);
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return relationValues(node.name, a, b);
    default:
      return functionValues(node.name, a);
  }
}

function choiceValues(condition: Values, then: Values, otherwise: Values): Values {
  if (condition.known === 'never') return NEVER;
  const taken = [...(condition.high === 1 ? [then] : []), ...(condition.low === 0 ? [otherwise] : [])];
  const [known] = [knownOfAll([condition, ...taken])];
  return union(taken, known === 'never' && taken.some((one) => one.known !== 'never') ? 'sometimes' : known);
}

function firstKnown(args: readonly Values[]): Values {
  const last = args.findIndex(({ known }) => known === 'always');
  const tried = last < 0 ? args : args.slice(0, last + 1);
  const known = last >= 0 ? 'always' : tried.every((one) => one.known === 'never') ? 'never' : 'sometimes';
  return union(tried, known);
}

/** Whether a value of the operand is a text. */
export function isText(operand: Operand): boolean {
  const element = elementOf(operand.type);
  return element !== undefined && isTextual(element);
}
