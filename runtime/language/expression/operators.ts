import type { Arithmetic, BinaryNode, Comparison, UnaryNode } from './ast.js';
import type { Checking } from './checking.js';
import type { ElementType, ExpressionType } from './environment.js';
import { helpForPair, helpTowards } from './help.js';
import { onNumber, onNumbers, onTexts, type ListSide } from './kernels/elementwise.js';
import * as loops from './kernels/number-loops.js';
import type { Operand } from './operand.js';
import { operation } from './operation.js';
import {
  BOOL,
  countsAsNumber,
  describeType,
  elementOf,
  isComparable,
  isTextual,
  NUMBER,
  TIME,
} from './types.js';

const ARITHMETIC: Readonly<Record<Arithmetic, loops.NumberLoop>> = {
  '+': loops.add,
  '-': loops.subtract,
  '*': loops.multiply,
  '/': loops.divide,
  '%': loops.remainder,
};

const COMPARISON: Readonly<Record<Comparison, loops.NumberLoop>> = {
  '==': loops.equal,
  '!=': loops.notEqual,
  '<': loops.less,
  '<=': loops.lessOrEqual,
  '>': loops.greater,
  '>=': loops.greaterOrEqual,
};

export function checkUnary(checker: Checking, node: UnaryNode): Operand | undefined {
  const operand = checker.check(node.operand);
  if (operand === undefined) return undefined;
  const element = elementOf(operand.type);
  const wanted = node.op === 'not' ? BOOL : NUMBER;
  if (element?.kind !== wanted.kind && !(node.op === '-' && countsAsNumber(element))) {
    wrongOperand(checker, node.op, wanted.kind, operand);
    return undefined;
  }
  const loop = node.op === 'not' ? loops.not : loops.negate;
  const isList = operand.type.kind === 'list';
  return operation(node, lifted(wanted, isList ? 'left' : 'none'), [operand], onNumber(loop, isList));
}

export function checkBinary(checker: Checking, node: BinaryNode): Operand | undefined {
  const left = checker.check(node.left);
  const right = checker.check(node.right);
  if (left === undefined || right === undefined) return undefined;
  switch (node.op) {
    case 'and':
    case 'or':
      return checkLogic(checker, node, node.op, left, right);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return checkComparison(checker, node, node.op, left, right);
    default:
      return checkArithmetic(checker, node, node.op, left, right);
  }
}

function checkLogic(
  checker: Checking,
  node: BinaryNode,
  op: 'and' | 'or',
  left: Operand,
  right: Operand,
): Operand | undefined {
  const wrong = [left, right].filter(({ type }) => elementOf(type)?.kind !== 'bool');
  for (const operand of wrong) wrongOperand(checker, op, 'bool', operand);
  const side = wrong.length > 0 ? undefined : listSide(checker, node, left, right);
  if (side === undefined) return undefined;
  const loop = op === 'and' ? loops.and : loops.or;
  return operation(node, lifted(BOOL, side), [left, right], onNumbers(loop, side));
}

function checkComparison(
  checker: Checking,
  node: BinaryNode,
  op: Comparison,
  left: Operand,
  right: Operand,
): Operand | undefined {
  const a = elementOf(left.type);
  const b = elementOf(right.type);
  if (a === undefined || b === undefined) {
    wrongOperand(checker, op, undefined, a === undefined ? left : right);
    return undefined;
  }
  if (!isComparable(a, b)) {
    const [x, y] = [checker.label(left), checker.label(right)];
    const found = `${x} is ${describeType(left.type)} and ${y} is ${describeType(right.type)}`;
    const help = helpForPair(left, right, (operand) => checker.shortText(operand.node));
    checker.problem('expression_type', node, `${found}: they cannot be compared`, help);
    return undefined;
  }
  if (op !== '==' && op !== '!=' && a.kind !== 'number' && a.kind !== 'time') {
    const message = `\`${op}\` compares numbers or times; ${checker.label(left)} is ${describeType(left.type)}`;
    checker.problem('expression_type', node, message, `only \`==\`, \`!=\` and \`in\` compare ${a.kind}s`);
    return undefined;
  }
  const side = listSide(checker, node, left, right);
  if (side === undefined) return undefined;
  const build = isTextual(a) ? onTexts(op === '==', side) : onNumbers(COMPARISON[op], side);
  return operation(node, lifted(BOOL, side), [left, right], build);
}

function checkArithmetic(
  checker: Checking,
  node: BinaryNode,
  op: Arithmetic,
  left: Operand,
  right: Operand,
): Operand | undefined {
  const type = arithmeticType(op, elementOf(left.type), elementOf(right.type));
  if (type === undefined) {
    const wrong = [left, right].filter((operand) => !countsAsNumber(elementOf(operand.type)));
    const times = wrong.filter((operand) => elementOf(operand.type)?.kind === 'time');
    if (times.length === wrong.length) {
      const help = 'subtract a time from a time, or add days to it: `t + days(7)`';
      checker.problem(
        'expression_type',
        node,
        `\`${op}\` does not take ${describeType(left.type)} and ${describeType(right.type)}`,
        help,
      );
    } else {
      for (const operand of wrong) if (!times.includes(operand)) wrongOperand(checker, op, 'number', operand);
    }
    return undefined;
  }
  const side = listSide(checker, node, left, right);
  if (side === undefined) return undefined;
  return operation(node, lifted(type, side), [left, right], onNumbers(ARITHMETIC[op], side));
}

/** time - time is a number of milliseconds. Such a number can be added to a time. */
function arithmeticType(
  op: Arithmetic,
  a: ElementType | undefined,
  b: ElementType | undefined,
): ElementType | undefined {
  if (countsAsNumber(a) && countsAsNumber(b)) return NUMBER;
  if (a?.kind === 'time' && b?.kind === 'time' && op === '-') return NUMBER;
  if (a?.kind === 'time' && b?.kind === 'number' && (op === '+' || op === '-')) return TIME;
  if (a?.kind === 'number' && b?.kind === 'time' && op === '+') return TIME;
  return undefined;
}

/** Which operand is a list. Two lists are a problem, because nothing says which elements belong together. */
function listSide(checker: Checking, node: BinaryNode, left: Operand, right: Operand): ListSide | undefined {
  if (left.type.kind !== 'list') return right.type.kind === 'list' ? 'right' : 'none';
  if (right.type.kind !== 'list') return 'left';
  checker.problem(
    'expression_type',
    node,
    `${checker.label(left)} and ${checker.label(right)} are both lists; \`${node.op}\` takes a list and one value`,
    'reduce one of them, as in `max(list)`, or use `x in list`',
  );
  return undefined;
}

function lifted(type: ElementType, side: ListSide): ExpressionType {
  return side === 'none' ? type : { kind: 'list', of: type };
}

function wrongOperand(
  checker: Checking,
  op: string,
  wanted: 'number' | 'bool' | undefined,
  operand: Operand,
): void {
  const takes = wanted === undefined ? 'single values and lists' : `${wanted}s`;
  const message = `\`${op}\` takes ${takes}; ${checker.label(operand)} is ${describeType(operand.type)}`;
  const help = wanted && helpTowards(wanted, operand, checker.shortText(operand.node));
  checker.problem('expression_type', operand.node, message, help);
}
