import type { OutputKind } from '../api/plugin.js';
import { Status } from '../api/status.js';
import type { PipelineDefinition } from '../config/model.js';
import { nearest } from '../config/nearest.js';
import type { Located } from '../config/source.js';
import { FrameLayout, type Scope } from '../frame/layout.js';
import {
  FAILED_ELSEWHERE,
  type CompiledExpression,
  type Environment,
  type Kernel,
  type NameProblem,
  type Source,
} from './expression/environment.js';
import type { FeatureBindings } from './feature-bindings.js';
import type { HydrationBuilder } from './hydration-builder.js';
import type { StepOrder } from './step-order.js';

/** What a component of an earlier step produced. */
interface ProducedOutput extends Source {
  readonly output: string;
}

/** How a named expression is compiled; reports its problems itself. */
export type CompileDefinition = (
  text: Located<string>,
  environment: Environment,
) => CompiledExpression | undefined;

/** What every name of one pipeline means, at the step that is being compiled. */
export class PipelineNames {
  /** Kernels of definitions that were first used by the step being compiled. */
  prepare: Kernel[] = [];
  /** Names that the step being compiled reads. */
  reads = new Set<string>();
  /** Whether the step being compiled reads `score`. */
  readsScore = false;
  readonly scoreSlot: number;
  readonly #definition: PipelineDefinition;
  readonly #layout: FrameLayout;
  readonly #hydration: HydrationBuilder;
  readonly #bindings: FeatureBindings;
  readonly #compileDefinition: CompileDefinition;
  readonly #order: StepOrder;
  /** Kernels of definitions that a step used whose compilation was given up. */
  #leftOver: Kernel[] = [];
  readonly #outputs = new Map<string, Map<string, ProducedOutput> | 'failed'>();
  /** Names of the steps of which something reads an output. */
  readonly #read = new Set<string>();
  readonly #defined = new Map<string, CompiledExpression | 'failed' | 'in progress'>();

  constructor(
    definition: PipelineDefinition,
    layout: FrameLayout,
    hydration: HydrationBuilder,
    bindings: FeatureBindings,
    order: StepOrder,
    compileDefinition: CompileDefinition,
  ) {
    this.#order = order;
    this.#definition = definition;
    this.#layout = layout;
    this.#hydration = hydration;
    this.#bindings = bindings;
    this.#compileDefinition = compileDefinition;
    this.scoreSlot = layout.add({ kind: 'number', scope: 'candidate' }, 'score');
  }

  /** Puts the scores as they stand before a step where its expressions can read them. */
  readonly copyScores: Kernel = (frame) => {
    const column = frame.number(this.scoreSlot);
    for (let row = 0; row < frame.count; row++) {
      const score = frame.scores[row] ?? NaN;
      column.values[row] = score;
      // A score that no step has set yet, where one entity is scored.
      column.status[row] = Number.isNaN(score) ? Status.absent : Status.present;
    }
  };

  /** Starts the next step. */
  begin(): void {
    this.prepare = this.#leftOver;
    this.#leftOver = [];
    this.reads = new Set();
    this.readsScore = false;
  }

  /** Leaves the step, to be compiled after another; the definitions that it used are computed before that one. */
  giveUp(): void {
    this.#leftOver = this.prepare;
  }

  /** Makes a step's outputs known to those after it. */
  addOutputs(as: string, outputs: Readonly<Record<string, OutputKind>>): Map<string, number> {
    const known = new Map<string, ProducedOutput>();
    for (const [output, kind] of Object.entries(outputs)) {
      const scope: Scope = 'candidate';
      const slot = this.#layout.add({ kind: kind === 'text' ? 'text' : 'number', scope }, `${as}:${output}`);
      known.set(output, { output, type: { kind }, scope, slot });
    }
    this.#outputs.set(as, known);
    return new Map([...known].map(([name, { slot }]) => [name, slot]));
  }

  /** Remembers that a step's outputs are unknown because the step has errors of its own. */
  addFailed(as: string): void {
    if (!this.#outputs.has(as)) this.#outputs.set(as, 'failed');
  }

  /** What a name before a colon stands for already. */
  isTaken(name: string): string | undefined {
    if (this.#outputs.has(name)) return 'an earlier step';
    if ([...this.#bindings.names].includes(name)) return 'a feature view';
    return undefined;
  }

  /** The name that a model's column stands for, see `BuildContext.needColumn`. */
  ofColumn(column: string): string {
    if (this.#definition.define.has(column) || /[.:]/.test(column)) return column;
    for (let at = column.indexOf('__', 1); at >= 0; at = column.indexOf('__', at + 1)) {
      const [first, rest] = [column.slice(0, at), column.slice(at + 2)];
      if (this.#isFeatureName(first)) return `${first}:${rest}`;
      if (this.#hydration.roots.has(first)) return `${first}.${rest.replaceAll('__', '.')}`;
    }
    return column.replace('__', ':');
  }

  /** What names mean for the options and conditions of the step being compiled. */
  readonly environment: Environment = this.#environment(true, true);

  /** The definitions that steps use. */
  get definitions(): { readonly name: string; readonly slot: number }[] {
    return [...this.#defined].flatMap(([name, known]) =>
      typeof known === 'string' ? [] : [{ name, slot: known.slot }],
    );
  }

  /** Whether something reads an output of the step. */
  isRead(as: string): boolean {
    return this.#read.has(as);
  }

  /**
   * Checks the definitions that neither a step nor the answer uses, without making the plan read anything.
   * @returns their names
   */
  checkUnused(): string[] {
    const unused = [...this.#definition.define.keys()].filter((name) => !this.#defined.has(name));
    for (const [name, text] of this.#definition.define) {
      if (this.#defined.has(name)) continue;
      this.#defined.set(name, 'in progress');
      this.#compileDefinition(text, this.#environment(false, false, new FrameLayout()));
      this.#defined.set(name, 'failed');
    }
    return unused;
  }

  #environment(read: boolean, ofStep: boolean, scratch?: FrameLayout): Environment {
    const layout = (): FrameLayout => scratch ?? this.#layout;
    return {
      get layout() {
        return layout();
      },
      name: (name) => this.#name(name, read, ofStep),
      path: (segments) => {
        if (ofStep) this.reads.add(segments.join('.'));
        return this.#path(segments, read);
      },
      feature: (view, feature) => {
        if (ofStep) this.reads.add(`${view}:${feature}`);
        return this.#feature(view, feature, read);
      },
    };
  }

  #name(name: string, read: boolean, ofStep: boolean): Source | NameProblem {
    if (name === 'score') return this.#score(ofStep);
    const text = this.#definition.define.get(name);
    if (text !== undefined) {
      if (ofStep) this.reads.add(name);
      return this.#define(name, text, read);
    }
    if (this.#hydration.roots.has(name)) return this.#hydration.source([name], read);
    return this.#unknownName(name);
  }

  #score(ofStep: boolean): Source | NameProblem {
    if (!ofStep) {
      return {
        problem: 'unknown_name',
        message: '`score` changes from step to step, so a definition cannot use it',
        help: 'write it in the step that needs it',
      };
    }
    this.readsScore = true;
    return { type: { kind: 'number' }, scope: 'candidate', slot: this.scoreSlot };
  }

  #define(name: string, text: Located<string>, read: boolean): Source | NameProblem {
    const known = this.#defined.get(name);
    if (known === 'in progress') {
      return {
        problem: 'cyclic_define',
        message: `the definition of \`${name}\` leads back to itself`,
        help: 'definitions may use each other in any order, but not in a circle',
      };
    }
    // Its own diagnostics were given where it stands.
    if (known === 'failed') return { problem: 'unknown_name', message: FAILED_ELSEWHERE };
    if (known !== undefined) return known;
    this.#defined.set(name, 'in progress');
    const environment = this.#environment(read, false, read ? undefined : new FrameLayout());
    let compiled: CompiledExpression | undefined;
    try {
      compiled = this.#compileDefinition(text, environment);
    } catch (error) {
      this.#defined.delete(name);
      throw error;
    }
    this.#defined.set(name, compiled ?? 'failed');
    if (compiled === undefined) return { problem: 'unknown_name', message: FAILED_ELSEWHERE };
    if (read) this.prepare.push(...compiled.kernels);
    return compiled;
  }

  #path(segments: readonly string[], read: boolean): Source | NameProblem {
    const first = segments[0] ?? '';
    if (!this.#hydration.roots.has(first)) {
      const rest = segments.slice(1).join(':');
      if (this.#outputs.has(first) || this.#isFeatureName(first)) {
        return {
          problem: 'unknown_name',
          message: `\`${segments.join('.')}\`: features are written with a colon`,
          help: `did you mean \`${first}:${rest}\`?`,
        };
      }
      return this.#unknownName(first, 0);
    }
    return this.#hydration.source(segments, read);
  }

  #isFeatureName(name: string): boolean {
    return [...this.#bindings.names].includes(name) || this.#order.has(name);
  }

  #feature(view: string, feature: string, read: boolean): Source | NameProblem {
    const outputs = this.#outputs.get(view);
    if (outputs === 'failed') return { problem: 'unknown_feature', message: FAILED_ELSEWHERE };
    if (outputs !== undefined) {
      const found = outputs.get(feature);
      if (found !== undefined) {
        if (read) this.#read.add(view);
        return found;
      }
      const guess = nearest(feature, outputs.keys());
      return {
        problem: 'unknown_feature',
        message: `\`${view}\` produces no \`${feature}\``,
        help:
          guess === undefined
            ? `it produces ${[...outputs.keys()].join(', ')}`
            : `did you mean \`${view}:${guess}\`?`,
      };
    }
    const bound = this.#bindings.source(view, feature, read);
    if (bound !== undefined) return bound;
    const tooEarly = this.#order.need(view, feature);
    if (tooEarly !== undefined) return tooEarly;
    if (this.#hydration.roots.has(view)) {
      return {
        problem: 'unknown_name',
        message: `\`${view}:${feature}\`: attributes are written with a dot`,
        help: `did you mean \`${view}.${feature}\`?`,
      };
    }
    const names = [...this.#bindings.names, ...this.#outputs.keys(), ...this.#order.names];
    const guess = nearest(view, names);
    return {
      problem: 'unknown_feature',
      message: `no view or component here is called \`${view}\``,
      help:
        guess !== undefined
          ? `did you mean \`${guess}:${feature}\`?`
          : names.length === 0
            ? 'require a feature view under `features:`'
            : `there is ${names.join(', ')}`,
    };
  }

  #unknownName(name: string, segment?: number): NameProblem {
    const names = [...this.#hydration.roots.keys(), ...this.#definition.define.keys(), 'score'];
    const features = [...this.#bindings.names, ...this.#outputs.keys()];
    const guess = nearest(name, names) ?? nearest(name, features);
    return {
      problem: 'unknown_name',
      ...(segment === undefined ? {} : { segment }),
      message: `nothing here is called \`${name}\``,
      help:
        guess === undefined
          ? `there is ${names.join(', ')}`
          : features.includes(guess)
            ? `did you mean a feature of it, \`${guess}:…\`?`
            : `did you mean \`${guess}\`?`,
    };
  }
}
