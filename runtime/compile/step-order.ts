import type { ComponentKind } from '../api/plugin.js';
import type { StepDefinition } from '../config/project/model.js';
import type { NameProblem } from '../expression/environment.js';

/** Thrown while a step is compiled that needs another one's output: compile that one, then this one anew. */
export class StepNeeded extends Error {
  constructor(readonly index: number) {
    super('another step comes first');
    this.name = 'StepNeeded';
  }
}

/**
 * The order in which steps are compiled, and run. Steps that only compute (features and models) and stand together may
 * be written in any order: each runs after those that it needs. What changes candidates or scores stays where it is
 * written, and nothing moves past it, so that no step sees other candidates than its place says.
 */
export class StepOrder {
  readonly #steps: readonly StepDefinition[];
  readonly #computes: readonly boolean[];
  /** Steps being compiled, each for the sake of the one before it. */
  readonly #stack: number[] = [];
  readonly #done = new Set<number>();

  constructor(steps: readonly StepDefinition[], kindOf: (use: string) => ComponentKind | undefined) {
    this.#steps = steps;
    this.#computes = steps.map(({ use }) => {
      const kind = kindOf(use.value);
      return kind === 'feature' || kind === 'model';
    });
  }

  isDone(index: number): boolean {
    return this.#done.has(index);
  }

  begin(index: number): void {
    this.#stack.push(index);
  }

  end(): void {
    const index = this.#stack.pop();
    if (index !== undefined) this.#done.add(index);
  }

  /** Names that steps still to be compiled give to what they compute. */
  get names(): string[] {
    return this.#steps.flatMap((step, index) =>
      this.#computes[index] === true && !this.#done.has(index) ? [nameOf(step)] : [],
    );
  }

  /** Whether some step has the name. */
  has(name: string): boolean {
    return this.#find(name) >= 0;
  }

  /**
   * What is wrong with the use of an output that has not been produced yet; undefined if no step has the name.
   * @throws StepNeeded if the step that has it may come first
   */
  need(name: string, output: string): NameProblem | undefined {
    const index = this.#find(name);
    const step = this.#steps[index];
    if (step === undefined) return undefined;
    const started = this.#stack.indexOf(index);
    if (started >= 0) return this.#circle(name, output, started);
    const current = this.#stack.at(-1);
    if (current !== undefined && this.#standTogether(current, index)) throw new StepNeeded(index);
    return {
      problem: 'used_before_produced',
      message: `\`${name}:${output}\` is used before the step that produces it`,
      help: `move the step at line ${lineOf(step)} above this one`,
    };
  }

  #find(name: string): number {
    return this.#steps.findIndex((step) => nameOf(step) === name);
  }

  #standTogether(a: number, b: number): boolean {
    return this.#computes.slice(Math.min(a, b), Math.max(a, b) + 1).every(Boolean);
  }

  #circle(name: string, output: string, started: number): NameProblem {
    const circle = this.#stack.slice(started).flatMap((index) => this.#steps[index] ?? []);
    if (circle.length === 1) {
      return {
        problem: 'cyclic_steps',
        message: `\`${name}:${output}\` is an output of this very step`,
        help: 'a step can read only what others produce',
      };
    }
    const places = circle.map((step) => `\`${nameOf(step)}\` (line ${lineOf(step)})`);
    return {
      problem: 'cyclic_steps',
      message: `steps need each other in a circle: ${places.join(' needs ')} needs \`${name}:${output}\``,
      help: 'let one of them do without the other',
    };
  }
}

function nameOf({ as, use }: StepDefinition): string {
  return (as ?? use).value;
}

function lineOf({ at }: StepDefinition): number {
  return at.file.position(at.start).line;
}
