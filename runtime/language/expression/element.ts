import type { IndexNode } from './ast.js';
import type { Checking } from './checking.js';
import { numberElement, textElement, vectorElement } from './kernels/elements.js';
import type { Operand } from './operand.js';
import { operation } from './operation.js';
import { describeType, isTextual, NUMBER } from './types.js';

/** `x[0]`: an element of a vector or a list. A list that is shorter has no such element: the result is absent. */
export function checkIndex(checker: Checking, node: IndexNode): Operand | undefined {
  const of = checker.check(node.operand);
  const index = checker.check(node.index);
  if (of === undefined || index === undefined) return undefined;
  const { type } = of;
  if (type.kind !== 'list' && type.kind !== 'vector') {
    const message = `\`[…]\` takes an element of a list or a vector; ${checker.label(of)} is ${describeType(type)}`;
    checker.problem('expression_type', of.node, message);
    return undefined;
  }
  const at = index.tag === 'constant' && typeof index.value === 'number' ? index.value : NaN;
  if (!Number.isInteger(at) || at < 0 || index.type.kind !== 'number') {
    const message = `an index is a whole number from 0, not ${checker.label(index)}`;
    checker.problem('expression_type', index.node, message, helpForIndex(of, at, checker));
    return undefined;
  }
  if (type.kind === 'vector') {
    if (at < type.size) return operation(node, NUMBER, [of], vectorElement(at));
    const message = `${checker.label(of)} is ${describeType(type)}: its elements are 0 to ${type.size - 1}`;
    checker.problem('expression_type', index.node, message, `the last one is \`${last(of, checker)}\``);
    return undefined;
  }
  return operation(node, type.of, [of], isTextual(type.of) ? textElement(at) : numberElement(at));
}

function helpForIndex(of: Operand, at: number, checker: Checking): string {
  if (at === -1) return `write \`${last(of, checker)}\` for the last element`;
  return `the first element is \`${checker.shortText(of.node)}[0]\``;
}

function last(of: Operand, checker: Checking): string {
  return `last(${checker.shortText(of.node)})`;
}
