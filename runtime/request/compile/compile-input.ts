import type { Input } from '../../ground/api/input.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { spanWithin, type Located } from '../../project/config/yaml/source.js';
import { compileExpression, type Expected } from '../../language/expression/compile.js';
import {
  FAILED_ELSEWHERE,
  type CompiledExpression,
  type Environment,
} from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';

/** For an expression of any type and scope. */
export const ANYTHING: Expected = { type: 'any', scope: 'any' };

/**
 * Compiles an expression and reports its problems.
 * @param about starts every message; it says what the text is if the text does not stand at its place
 */
export function compileText(
  text: Located<string>,
  expected: Expected,
  names: Environment,
  diagnostics: Diagnostics,
  about = '',
): CompiledExpression | undefined {
  const result = compileExpression(text.value, names, expected);
  if (result.ok) return result.expression;
  for (const { code, start, end, message, help } of result.problems) {
    if (message !== FAILED_ELSEWHERE)
      diagnostics.error(code, spanWithin(text, start, end), about + message, help);
  }
  return undefined;
}

/** A compiled expression as a component reads it. */
export function inputOf({ slot }: CompiledExpression, text: string, layout: FrameLayout): Input {
  const shape = layout.columns[slot]?.shape;
  if (shape === undefined) throw new Error('an expression has a column');
  const size = shape.kind === 'vector' ? { size: shape.size } : {};
  return Object.freeze({ kind: shape.kind, slot, text, scope: shape.scope, ...size });
}
