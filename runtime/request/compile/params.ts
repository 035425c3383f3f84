import type { ParamDefinition, PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { NamedNumber, Source } from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import type { NameUse } from './name-use.js';

/**
 * The params of one pipeline while it is compiled. A param is a literal with a name: expressions of literals are computed
 * at load. In a plan for tuning, and if an experiment changes it, it is a column of its own, so that its value can change
 * without compiling again.
 */
export class Params {
  readonly #params: PipelineDefinition['params'];
  /** Undefined unless the plan is for tuning. */
  readonly #layout: FrameLayout | undefined;
  readonly #used = new Set<string>();
  readonly #slots = new Map<string, number>();

  /** @param open the params whose values can change; undefined: all */
  constructor(
    params: PipelineDefinition['params'],
    layout: FrameLayout | undefined,
    readonly open?: ReadonlySet<string>,
  ) {
    this.#params = params;
    this.#layout = layout;
  }

  get names(): Iterable<string> {
    return this.#params.keys();
  }

  has(name: string): boolean {
    return this.#params.has(name);
  }

  /** In a plan for tuning: the slot of each param that an expression reads. */
  get slots(): ReadonlyMap<string, number> {
    return this.#slots;
  }

  /** The params that nothing uses. */
  get unused(): ParamDefinition[] {
    return [...this.#params.values()].filter(({ name }) => !this.#used.has(name));
  }

  /** Notes that a step or the answer uses a param. */
  use(name: string): void {
    this.#used.add(name);
  }

  /** @param use who uses it; undefined if it is only checked */
  source(name: string, use: NameUse | undefined): Source | NamedNumber {
    const param = this.#params.get(name);
    if (param === undefined) throw new Error(`there is no param ${name}`);
    if (use !== undefined) this.use(name);
    if (use === undefined || this.#layout === undefined || this.open?.has(name) === false) {
      const { value, range } = param;
      return { constant: value, ...(range && { range: { low: range.min, high: range.max } }) };
    }
    const slot = this.#slots.get(name) ?? this.#layout.variable(param.value);
    this.#slots.set(name, slot);
    return { type: { kind: 'number' }, scope: 'request', slot };
  }
}
