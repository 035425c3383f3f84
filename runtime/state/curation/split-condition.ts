import type { ExpressionNode } from '../../language/expression/ast.js';
import { parseExpression } from '../../language/expression/parser.js';

/** A condition that can be true only where an expression equals a text. */
export interface SplitCondition {
  /** The expression that is compared, e.g. `lower(query.query)`. */
  readonly of: string;
  readonly equals: string;
  /** What else must be true; undefined if nothing else must. */
  readonly rest: string | undefined;
}

/**
 * Splits `lower(query.query) == "tv" and user.is_new` into the comparison with a text and the rest. Rules with the same
 * expression are then found by the text, with one look-up.
 * @returns undefined if no part of the condition compares with a text
 */
export function splitCondition(text: string): SplitCondition | undefined {
  const parsed = parseExpression(text);
  if (!parsed.ok) return undefined;
  const parts = conjuncts(parsed.ast);
  const written = (node: ExpressionNode): string => text.slice(node.start, node.end);
  for (const part of parts) {
    if (part.kind !== 'binary' || part.op !== '==') continue;
    const [one, other] = part.right.kind === 'text' ? [part.left, part.right] : [part.right, part.left];
    if (other.kind !== 'text' || one.kind === 'text') continue;
    const rest = parts.filter((node) => node !== part).map((node) => `(${written(node)})`);
    return {
      of: written(one),
      equals: other.value,
      rest: rest.length === 0 ? undefined : rest.join(' and '),
    };
  }
  return undefined;
}

function conjuncts(node: ExpressionNode): readonly ExpressionNode[] {
  return node.kind === 'binary' && node.op === 'and'
    ? [...conjuncts(node.left), ...conjuncts(node.right)]
    : [node];
}
