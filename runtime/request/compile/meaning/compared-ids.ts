import { childrenOf, type ExpressionNode } from '../../../language/expression/ast.js';
import type { Operand } from '../../../language/expression/operand.js';
import { spanWithin, type Span } from '../../../project/config/yaml/source.js';
import type { WrittenExpression } from './written.js';

/** A text that an expression compares with a reference, such as `b3` in `product.brand == "b3"`. */
export interface ComparedId {
  /** The entity type that the reference leads to. */
  readonly entity: string;
  readonly id: string;
  /** The reference as written. */
  readonly reference: string;
  /** The text in the file. */
  readonly at: Span;
}

/** The ids in the comparisons of expressions: ==, != and in. */
export function comparedIds(expressions: readonly WrittenExpression[]): ComparedId[] {
  return expressions.flatMap(({ text, root }) => idsUnder(root, text));
}

function idsUnder(operand: Operand, text: WrittenExpression['text']): ComparedId[] {
  if (operand.tag !== 'operation') return [];
  const { node, args } = operand;
  const here = args.flatMap(({ type, node: of }) => {
    const element = type.kind === 'list' ? type.of : type;
    if (element.kind !== 'ref' || !compares(node)) return [];
    const reference = text.value.slice(of.start, of.end);
    return childrenOf(node).flatMap((child) =>
      child.kind === 'text'
        ? [
            {
              entity: element.entity,
              id: child.value,
              reference,
              at: spanWithin(text, child.start, child.end),
            },
          ]
        : [],
    );
  });
  return [...here, ...args.flatMap((arg) => idsUnder(arg, text))];
}

function compares(node: ExpressionNode): boolean {
  return node.kind === 'in' || (node.kind === 'binary' && (node.op === '==' || node.op === '!='));
}
