import type { DiagnosticCode } from '../../project/config/diagnostics/diagnostic-codes.js';
import type { ExpressionNode } from './ast.js';
import type { Source } from './environment.js';
import type { Operand } from './operand.js';

/** What the rules of operators and functions need from the type checker. */
export interface Checking {
  /** What `position(n)` means here, see `Environment.position`. */
  position(): 'served' | Source | undefined;
  /** The typed operand of a part; undefined after a problem was reported. */
  check(node: ExpressionNode): Operand | undefined;
  /** Reports a problem at a place of the expression's text. */
  problem(
    code: DiagnosticCode,
    at: { readonly start: number; readonly end: number },
    message: string,
    help?: string,
  ): void;
  /** A part of the expression as it was written, or `x` if it is long. It is for suggestions in messages. */
  shortText(node: ExpressionNode): string;
  /** The description of an operand in messages. */
  label(operand: Operand): string;
}
