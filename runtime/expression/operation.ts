import type { ExpressionNode } from './ast.js';
import { evaluate } from './emit.js';
import type { ExpressionType } from './environment.js';
import { constant, type BuildKernel, type Operand } from './operand.js';

/** An operation on its arguments, computed at once where all of them are constants. */
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
  // What has no value, like 1 / 0, stays an operation: only a cell can say so.
  return value === undefined ? result : constant(node, type, value);
}
