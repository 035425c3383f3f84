import type { OutputKind } from '../../ground/api/component.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { FAILED_ELSEWHERE, type NameProblem, type Source } from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';

/** The outputs of the steps that are compiled. */
export class StepOutputs {
  /** By step name, then by output. */
  readonly #outputs = new Map<string, ReadonlyMap<string, Source> | 'failed'>();
  readonly #read = new Set<string>();

  /** Gives each output of a step a column. @returns their slots */
  add(
    step: string,
    outputs: Readonly<Record<string, OutputKind>>,
    layout: FrameLayout,
  ): ReadonlyMap<string, number> {
    const sources = Object.entries(outputs).map(([output, kind]): [string, Source] => {
      const shape = { kind: kind === 'text' ? 'text' : 'number', scope: 'candidate' } as const;
      const slot = layout.add(shape, `${step}:${output}`);
      return [output, { type: { kind }, scope: shape.scope, slot }];
    });
    this.#outputs.set(step, new Map(sources));
    return new Map(sources.map(([output, { slot }]) => [output, slot]));
  }

  /** Notes a step with errors. Its outputs are unknown, so a use of them is no error of its own. */
  addFailed(step: string): void {
    if (!this.#outputs.has(step)) this.#outputs.set(step, 'failed');
  }

  /** Whether a step of this name is compiled, or has errors. */
  has(step: string): boolean {
    return this.#outputs.has(step);
  }

  /** Names of the steps, those with errors included. */
  get steps(): Iterable<string> {
    return this.#outputs.keys();
  }

  /** The full names of the outputs. */
  get names(): string[] {
    return [...this.#outputs].flatMap(([step, outputs]) =>
      outputs === 'failed' ? [] : [...outputs.keys()].map((output) => `${step}:${output}`),
    );
  }

  /** An output as a source of an expression; undefined if no compiled step has the name. */
  source(step: string, output: string, read: boolean): Source | NameProblem | undefined {
    const outputs = this.#outputs.get(step);
    if (outputs === undefined) return undefined;
    if (outputs === 'failed') return { problem: 'unknown_feature', message: FAILED_ELSEWHERE };
    const found = outputs.get(output);
    if (found !== undefined) {
      if (read) this.#read.add(step);
      return found;
    }
    return {
      problem: 'unknown_feature',
      message: `\`${step}\` has no output \`${output}\``,
      help:
        didYouMean(output, outputs.keys(), (guess) => `\`${step}:${guess}\``) ??
        `its outputs are ${[...outputs.keys()].join(', ')}`,
    };
  }

  /** Whether something reads an output of the step. */
  isRead(step: string): boolean {
    return this.#read.has(step);
  }
}
