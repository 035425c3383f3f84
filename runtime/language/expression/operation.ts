import { namesIn, type ExpressionNode } from './ast.js';
import { evaluate } from './emit.js';
import type { ExpressionType } from './environment.js';
import { constant, type BuildKernel, type Operand } from './operand.js';

/** An operation on its arguments. If all arguments are constants, it is computed at once. */
export function operation(
  node: ExpressionNode,
  type: ExpressionType,
  args: readonly Operand[],
  build: BuildKernel,
): Operand {
  const scope = args.some((arg) => arg.scope === 'candidate') ? 'candidate' : 'request';
  const result: Operand = { tag: 'operation', node, type, scope, args, build };
  if (args.length === 0 || args.some((arg) => arg.tag !== 'constant')) return result;
  const value = evaluate(result);
  // An operation without a value, such as 1 / 0, is kept: only a cell can have a status.
  if (value === undefined) return result;
  const folded = constant(node, type, value);
  return namesIn(node).length === 0 ? folded : { ...folded, computed: result };
}
