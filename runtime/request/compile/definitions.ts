import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import {
  FAILED_ELSEWHERE,
  type CompiledExpression,
  type Environment,
  type Kernel,
  type NameProblem,
} from '../../language/expression/environment.js';
import { ANYTHING, compileText } from './compile-input.js';
import { written, type WrittenExpression } from './meaning/written.js';
import type { NameUse } from './name-use.js';
import type { NamedColumn } from './plan.js';

type State = CompiledExpression | 'failed' | 'in progress';

/** The named expressions under `define:`. Each is compiled once, when it is first used. */
export class Definitions {
  readonly #texts: PipelineDefinition['define'];
  readonly #diagnostics: Diagnostics;
  readonly #used = new Map<string, State>();
  /** Definitions that nothing uses: compiled only to find their problems. */
  readonly #checked = new Map<string, State>();
  /** Kernels of definitions that no step computes yet. */
  #kernels: Kernel[] = [];

  constructor(texts: PipelineDefinition['define'], diagnostics: Diagnostics) {
    this.#texts = texts;
    this.#diagnostics = diagnostics;
  }

  has(name: string): boolean {
    return this.#texts.has(name);
  }

  get names(): Iterable<string> {
    return this.#texts.keys();
  }

  /** The columns of the definitions that are used. */
  get columns(): NamedColumn[] {
    return [...this.#used].flatMap(([name, state]) =>
      typeof state === 'string' ? [] : [{ name, slot: state.slot }],
    );
  }

  /** The texts of the definitions that are used, with what they mean. */
  get written(): WrittenExpression[] {
    return [...this.#used].flatMap(([name, state]) => {
      const text = this.#texts.get(name);
      return typeof state === 'string' || text === undefined ? [] : [written(text, state)];
    });
  }

  /** The definitions that are not used. */
  get unused(): string[] {
    return [...this.#texts.keys()].filter((name) => !this.#used.has(name));
  }

  /** The kernels of definitions that were first used after the last call. */
  takeKernels(): readonly Kernel[] {
    const kernels = this.#kernels;
    this.#kernels = [];
    return kernels;
  }

  /**
   * The value of a definition, as a source of an expression.
   * @param environment makes what names mean in it; called if it is compiled now
   * @param use who uses it; undefined if it is only checked
   */
  source(
    name: string,
    environment: () => Environment,
    use: NameUse | undefined,
  ): CompiledExpression | NameProblem {
    const text = this.#texts.get(name);
    if (text === undefined) throw new Error(`there is no definition ${name}`);
    const known = this.#used.get(name) ?? this.#checked.get(name);
    if (known === 'in progress') {
      return {
        problem: 'cyclic_define',
        message: `the definition of \`${name}\` uses itself, directly or through other definitions`,
        help: 'definitions may use each other in any order, but not in a circle',
      };
    }
    if (known === 'failed') return FAILED;
    if (known !== undefined) return known;

    const states = use === undefined ? this.#checked : this.#used;
    states.set(name, 'in progress');
    const compiled = compileText(text, ANYTHING, environment(), this.#diagnostics);
    if (use?.waitsFor !== undefined) {
      states.delete(name); // it is compiled again, together with the step that waits
      return FAILED;
    }
    states.set(name, compiled ?? 'failed');
    if (compiled === undefined) return FAILED;
    if (use !== undefined) this.#kernels.push(...compiled.kernels);
    return compiled;
  }
}

/** The problem is reported at the definition, and not at its uses. */
const FAILED: NameProblem = { problem: 'unknown_name', message: FAILED_ELSEWHERE };
