import type { ComponentKind } from '../../ground/api/plugin.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import type { NameProblem } from '../../language/expression/environment.js';

/**
 * Which steps may run before which. Steps that only compute (features and models) and stand next to each other may be
 * written in any order: each runs after the steps that it needs. A step that changes candidates or scores runs where it
 * is written, and no step moves past it. So every step sees the candidates and scores that its place says.
 */
export class StepOrder {
  /** Names of the steps that compute something. */
  readonly names: readonly string[];
  readonly #steps: readonly StepDefinition[];
  readonly #kinds: readonly (ComponentKind | undefined)[];
  readonly #computes: readonly boolean[];

  constructor(steps: readonly StepDefinition[], kindOf: (use: string) => ComponentKind | undefined) {
    this.#steps = steps;
    this.#kinds = steps.map(({ use }) => kindOf(use.value));
    this.#computes = this.#kinds.map((kind) => kind === 'feature' || kind === 'model');
    this.names = steps.filter((_, index) => this.#computes[index]).map(nameOf);
  }

  /** Whether some step has the name. */
  has(name: string): boolean {
    return this.#find(name) >= 0;
  }

  /**
   * Finds the step of an output that no compiled step has.
   * @param waiting indexes of steps: each waits for the next, and the last is the one that reads the output
   * @returns the step to compile first, or why there can be none; undefined if no step has the name
   */
  find(
    name: string,
    output: string,
    waiting: readonly number[],
  ): { readonly waitsFor: number } | NameProblem | undefined {
    const index = this.#find(name);
    const step = this.#steps[index];
    if (step === undefined) return undefined;
    if (this.#kinds[index] === 'retriever')
      return {
        problem: 'used_before_produced',
        message: `\`${name}:${output}\` is an output of another retriever, and retrievers run at the same time`,
        help: 'use values of the request here',
      };
    const does = DOES[this.#kinds[index] ?? 'feature'];
    if (does !== undefined)
      return {
        problem: 'unknown_feature',
        message: `the step \`${name}\` (line ${lineOf(step)}) ${does} and has no outputs, so there is no \`${name}:${output}\``,
        help:
          output === 'score'
            ? '`score` is the score so far; to use an earlier value, give its expression a name under `define:`, and write the name in both steps'
            : 'name the value under `define:`, or compute it in a step such as `use: linear`',
      };
    const started = waiting.indexOf(index);
    if (started >= 0) return this.#circle(name, output, waiting.slice(started));
    const reader = waiting.at(-1);
    if (reader !== undefined && this.#mayMove(index, reader)) return { waitsFor: index };
    return {
      problem: 'used_before_produced',
      message: `\`${name}:${output}\` is used before the step that produces it`,
      help: `move the step at line ${lineOf(step)} above this one`,
    };
  }

  #find(name: string): number {
    return this.#steps.findIndex((step) => nameOf(step) === name);
  }

  /** Whether one of two steps may run before the other: both, and all steps between them, only compute. */
  #mayMove(a: number, b: number): boolean {
    return this.#computes.slice(Math.min(a, b), Math.max(a, b) + 1).every(Boolean);
  }

  #circle(name: string, output: string, indexes: readonly number[]): NameProblem {
    const circle = indexes.flatMap((index) => this.#steps[index] ?? []);
    if (circle.length === 1) {
      return {
        problem: 'cyclic_steps',
        message: `\`${name}:${output}\` is an output of the same step`,
        help: 'a step can only read outputs of other steps',
      };
    }
    const places = circle.map((step) => `\`${nameOf(step)}\` (line ${lineOf(step)})`);
    return {
      problem: 'cyclic_steps',
      message: `steps need each other in a circle: ${places.join(' needs ')} needs \`${name}:${output}\``,
      help: 'remove one of these dependencies',
    };
  }
}

/** What the steps do that compute no columns. */
const DOES: Readonly<Partial<Record<ComponentKind, string>>> = {
  filter: 'removes candidates',
  rule: 'changes scores or places',
  effect: 'sends something away',
};

/** The name of a step: its `as:`, or the name of its plugin. */
export function nameOf({ as, use }: StepDefinition): string {
  return (as ?? use).value;
}

function lineOf({ at }: StepDefinition): number {
  return at.file.position(at.start).line;
}
