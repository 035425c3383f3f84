import type { OutputKind } from '../api/plugin.js';
import { Status } from '../api/status.js';
import type { PipelineDefinition } from '../config/project/model.js';
import { endingIn, nearest } from '../core/nearest.js';
import type { Located } from '../config/yaml/source.js';
import { FrameLayout, type Scope } from '../frame/frame-layout.js';
import {
  FAILED_ELSEWHERE,
  type CompiledExpression,
  type Environment,
  type Kernel,
  type NameProblem,
  type Source,
} from '../expression/environment.js';
import type { FeatureBindings } from './feature-bindings.js';
import type { HydrationBuilder } from './hydration-builder.js';
import type { NamedColumn } from './plan.js';
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
  get definitions(): NamedColumn[] {
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
    return {
      problem: 'unknown_name',
      ...(segment === undefined ? {} : { segment }),
      message: this.#producers.has(name)
        ? `\`${name}\` is ${this.isTaken(name) === 'a feature view' ? 'a feature view' : 'a step'}, not a value`
        : `nothing here is called \`${name}\``,
      help: this.#helpFor(name, segment === undefined),
    };
  }

  /** What stands before a colon: the views that are bound, and the steps that compute something. */
  get #producers(): ReadonlySet<string> {
    return new Set([...this.#bindings.names, ...this.#outputs.keys(), ...this.#order.names]);
  }

  /** @param whole whether the name stands for a value by itself, rather than for the start of a path */
  #helpFor(name: string, whole: boolean): string {
    const roots = [...this.#hydration.roots.keys()];
    const names = [...roots, ...this.#definition.define.keys(), 'score'];
    const producers = this.#producers;
    if (whole && producers.has(name)) return this.#helpForProducer(name);
    const guess = nearest(name, names);
    if (guess !== undefined) return `did you mean \`${guess}\`?`;
    if (!whole) {
      const producer = nearest(name, producers);
      return producer === undefined ? `there is ${names.join(', ')}` : this.#helpForProducer(producer);
    }
    const values = [...this.#featureNames(), ...this.#hydration.attributeNames()];
    const named = endingIn(name, values);
    if (named.length > 1) return `did you mean ${oneOf(named)}?`;
    const value = named[0] ?? nearest(name, values);
    if (value !== undefined) return `did you mean \`${value}\`?`;
    const unrequired = this.#bindings.unrequired();
    const feature = endingIn(name, unrequired)[0] ?? nearest(name, unrequired);
    if (feature !== undefined)
      return `did you mean \`${feature}\`? Add \`- ${feature.split(':', 1)[0] ?? ''}\` under \`features:\` to use it`;
    const producer = nearest(name, producers);
    return producer === undefined ? `there is ${names.join(', ')}` : this.#helpForProducer(producer);
  }

  /** A view or step stands where one of its values is wanted. */
  #helpForProducer(producer: string): string {
    const known = [...this.#featureNames()].filter((one) => one.startsWith(`${producer}:`));
    return known.length === 0
      ? `write \`${producer}:OUTPUT\`, with the name of an output of that step`
      : `did you mean ${oneOf(known)}?`;
  }

  /** The full names of the features and outputs that can be used here. */
  *#featureNames(): Iterable<string> {
    yield* this.#bindings.features();
    for (const [step, outputs] of this.#outputs)
      if (outputs !== 'failed') for (const output of outputs.keys()) yield `${step}:${output}`;
  }
}

const MOST_OFFERED = 4;

function oneOf(names: readonly string[]): string {
  const quoted = names.slice(0, MOST_OFFERED).map((name) => `\`${name}\``);
  const more = names.length > MOST_OFFERED ? ', …' : '';
  const last = quoted.length > 1 && more === '' ? ` or ${quoted.pop() ?? ''}` : '';
  return quoted.join(', ') + last + more;
}
