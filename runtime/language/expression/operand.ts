import type { Scope } from '../frame/frame-layout.js';
import type { ExpressionNode } from './ast.js';
import type { ExpressionType, Kernel } from './expression-type.js';

/** Makes the kernel that computes the column `out` from the columns `args`. */
export type BuildKernel = (out: number, args: readonly number[]) => Kernel;

/** A part of an expression, with its type. */
export type Operand = ConstantOperand | SourceOperand | OperationOperand;

interface OperandBase {
  readonly node: ExpressionNode;
  readonly type: ExpressionType;
  readonly scope: Scope;
}

/** A bool is 0 or 1, and a time is in epoch milliseconds. */
export interface ConstantOperand extends OperandBase {
  readonly tag: 'constant';
  readonly value: number | string;
  /** For a param: the values that tuning may give it. */
  readonly range?: { readonly low: number; readonly high: number } | undefined;
  /** For a value that was computed from params: the operation, which other values of the params would change. */
  readonly computed?: Operand;
}

export interface SourceOperand extends OperandBase {
  readonly tag: 'source';
  readonly slot: number;
  /** For a definition: its expression. */
  readonly meaning?: Operand | undefined;
}

export interface OperationOperand extends OperandBase {
  readonly tag: 'operation';
  readonly args: readonly Operand[];
  readonly build: BuildKernel;
}

export function constant(
  node: ExpressionNode,
  type: ExpressionType,
  value: number | string,
): ConstantOperand {
  return { tag: 'constant', node, type, scope: 'request', value };
}
