import type { Input } from '../api/input.js';
import type { Diagnostics } from '../config/diagnostics/diagnostics.js';
import { spanWithin, type Located } from '../config/yaml/source.js';
import type { FrameLayout } from '../frame/frame-layout.js';
import { compileExpression, type Expected } from '../expression/compile.js';
import {
  FAILED_ELSEWHERE,
  type CompiledExpression,
  type Environment,
  type Kernel,
} from '../expression/environment.js';

/** Compiles the expressions of one pipeline, and tells what is wrong with them. */
export class Inputs {
  readonly #layout: FrameLayout;
  readonly #diagnostics: Diagnostics;

  constructor(layout: FrameLayout, diagnostics: Diagnostics) {
    this.#layout = layout;
    this.#diagnostics = diagnostics;
  }

  /**
   * An expression as what a component reads.
   * @param kernels gets those that compute it
   * @param about what the text is, where it is not what stands at its place
   * @param computed told the column if the expression computes a value of its own
   */
  bind(
    text: Located<string>,
    expected: Expected,
    names: Environment,
    kernels: Kernel[],
    about?: string,
    computed?: (slot: number) => void,
  ): Input | undefined {
    const compiled = this.expression(text, expected, names, about);
    if (compiled === undefined) return undefined;
    if (compiled.computed) computed?.(compiled.slot);
    kernels.push(...compiled.kernels);
    const shape = this.#layout.columns[compiled.slot]?.shape;
    if (shape === undefined) throw new Error('an expression has a column');
    const size = shape.kind === 'vector' ? { size: shape.size } : {};
    return Object.freeze({
      kind: shape.kind,
      slot: compiled.slot,
      text: text.value,
      scope: shape.scope,
      ...size,
    });
  }

  expression(
    text: Located<string>,
    expected: Expected,
    names: Environment,
    about = '',
  ): CompiledExpression | undefined {
    const result = compileExpression(text.value, names, expected);
    if (result.ok) return result.expression;
    for (const { code, start, end, message, help } of result.problems) {
      if (message !== FAILED_ELSEWHERE)
        this.#diagnostics.error(code, spanWithin(text, start, end), about + message, help);
    }
    return undefined;
  }
}
