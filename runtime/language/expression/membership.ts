import type { InNode } from './ast.js';
import type { Checking } from './checking.js';
import { helpForPair } from './help.js';
import { onNumber } from './kernels/elementwise.js';
import {
  inNumberColumns,
  inNumberList,
  inNumbers,
  inTextColumns,
  inTextList,
  inTexts,
} from './kernels/membership.js';
import { not } from './kernels/number-loops.js';
import type { Operand } from './operand.js';
import { operation } from './operation.js';
import { BOOL, describeType, elementOf, isComparable, isTextual } from './types.js';

/** `x in (a, b)`, `x in list`, and the same with `not`. */
export function checkIn(checker: Checking, node: InNode): Operand | undefined {
  const operand = checker.check(node.operand);
  const choices = node.choices.map((choice) => checker.check(choice));
  if (operand === undefined || !choices.every((choice) => choice !== undefined)) return undefined;
  const result = membership(checker, node, operand, choices);
  if (result === undefined || !node.negated) return result;
  return operation(node, result.type, [result], onNumber(not, result.type.kind === 'list'));
}

function membership(
  checker: Checking,
  node: InNode,
  operand: Operand,
  choices: readonly Operand[],
): Operand | undefined {
  const element = elementOf(operand.type);
  if (element === undefined) {
    wrongKind(checker, operand, 'one value before it');
    return undefined;
  }
  const [only] = choices;
  const isInList = choices.length === 1 && only?.type.kind === 'list';
  if (!isInList && !node.enclosed && only !== undefined) {
    wrongKind(checker, only, 'a list, or choices in parentheses', helpForChoice(checker, node, only));
    return undefined;
  }
  let fit = true;
  for (const choice of choices) fit = checkChoice(checker, operand, choice, isInList) && fit;
  if (!fit) return undefined;
  const isText = isTextual(element);
  if (isInList) {
    if (operand.type.kind === 'list') {
      wrongKind(checker, operand, 'one value before it');
      return undefined;
    }
    return operation(node, BOOL, [operand, ...choices], isText ? inTextList : inNumberList);
  }
  return amongChoices(checker, node, operand, choices, isText);
}

function amongChoices(
  checker: Checking,
  node: InNode,
  operand: Operand,
  choices: readonly Operand[],
  isText: boolean,
): Operand | undefined {
  const isList = operand.type.kind === 'list';
  const values = choices.map((choice) => (choice.tag === 'constant' ? choice.value : undefined));
  const literals = values.filter((value) => value !== undefined);
  if (literals.length === values.length) {
    const build = isText
      ? inTexts(new Set(literals.map(String)), isList)
      : inNumbers(new Set(literals.map(Number)), isList);
    return operation(node, isList ? { kind: 'list', of: BOOL } : BOOL, [operand], build);
  }
  if (isList) {
    const message = `${checker.label(operand)} is a list, so the choices after \`in\` must be literals`;
    checker.problem('expression_type', node, message);
    return undefined;
  }
  return operation(node, BOOL, [operand, ...choices], isText ? inTextColumns : inNumberColumns);
}

function checkChoice(checker: Checking, operand: Operand, choice: Operand, isList: boolean): boolean {
  const a = elementOf(operand.type);
  const b = elementOf(choice.type);
  if (choice.type.kind === 'list' && !isList) {
    wrongKind(checker, choice, 'single values as choices', 'write a single list: `x in list`');
    return false;
  }
  if (a !== undefined && b !== undefined && isComparable(a, b)) return true;
  const found = `${checker.label(operand)} is ${describeType(operand.type)} and ${checker.label(choice)} is ${describeType(choice.type)}`;
  const help = helpForPair(operand, choice, (one) => checker.shortText(one.node));
  checker.problem('expression_type', choice.node, `${found}: they cannot be compared`, help);
  return false;
}

function helpForChoice(checker: Checking, node: InNode, only: Operand): string {
  const [value, part] = [checker.shortText(only.node), checker.shortText(node.operand)];
  return only.type.kind === 'text'
    ? `write \`contains(${value}, ${part})\` to look for a part of a text`
    : `write \`${part} in (${value})\``;
}

function wrongKind(checker: Checking, operand: Operand, wanted: string, help?: string): void {
  const found = `${checker.label(operand)} is ${describeType(operand.type)}`;
  checker.problem('expression_type', operand.node, `\`in\` takes ${wanted}; ${found}`, help);
}
