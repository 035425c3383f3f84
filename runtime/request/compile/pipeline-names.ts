import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import {
  FAILED_ELSEWHERE,
  type Environment,
  type Kernel,
  type NamedNumber,
  type NameProblem,
  type Source,
} from '../../language/expression/environment.js';
import { FrameLayout } from '../../language/frame/frame-layout.js';
import { Definitions } from './definitions.js';
import type { WrittenExpression } from './meaning/written.js';
import type { NameUse } from './name-use.js';
import { Params } from './params.js';
import type { PipelineReads } from './pipeline-reads.js';
import type { NamedColumn } from './plan.js';
import { addScoreColumn, type ScoreColumn } from './score-column.js';
import type { StepOrder } from './step-order.js';
import type { StepTools } from './step-tools.js';
import { StepOutputs } from './step-outputs.js';
import { unknownName, unknownProducer, unknownRoot, type KnownNames } from './unknown-name.js';

/** What every name of one pipeline means. Resolving a name makes the plan read it. */
export class PipelineNames {
  readonly outputs = new StepOutputs();
  readonly score: ScoreColumn;
  readonly params: Params;
  readonly #definitions: Definitions;
  /** By definition: the names that it uses. */
  readonly #readsOf = new Map<string, Set<string>>();
  readonly #reads: PipelineReads;
  readonly #order: StepOrder;

  /** @param open the params that are columns of their own: all, or those of a set */
  constructor(
    { define, params }: PipelineDefinition,
    reads: PipelineReads,
    order: StepOrder,
    diagnostics: Diagnostics,
    open: StepTools['tunable'],
  ) {
    this.params = new Params(
      params,
      open === undefined || open === false ? undefined : reads.layout,
      typeof open === 'object' ? open : undefined,
    );
    this.#definitions = new Definitions(define, diagnostics);
    this.#reads = reads;
    this.#order = order;
    this.score = addScoreColumn(reads.layout);
  }

  /** What names mean for a step, or under `answer:`. `use` notes what is used. */
  environment(use: NameUse): Environment {
    return unlessWaiting(use, {
      layout: this.#reads.layout,
      position: () => 'served',
      name: (name) => {
        if (name === 'score') {
          use.readsScore = true;
          return this.score.source;
        }
        if (this.#definitions.has(name) || this.params.has(name)) use.reads.add(name);
        return this.#name(name, use);
      },
      path: (segments) => {
        use.reads.add(segments.join('.'));
        return this.#path(segments, use);
      },
      feature: (view, feature) => {
        use.reads.add(`${view}:${feature}`);
        return this.#feature(view, feature, use);
      },
    });
  }

  /**
   * What names mean in a definition.
   * @param use of the step that uses the definition; undefined if it is only checked, so that nothing is read
   */
  #inDefinition(definition: string, use: NameUse | undefined): Environment {
    const reads = new Set<string>();
    this.#readsOf.set(definition, reads);
    return unlessWaiting(use, {
      layout: use === undefined ? new FrameLayout() : this.#reads.layout,
      name: (name) => {
        reads.add(name);
        return name === 'score' ? SCORE_IN_DEFINITION : this.#name(name, use);
      },
      path: (segments) => {
        reads.add(segments.join('.'));
        return this.#path(segments, use);
      },
      feature: (view, feature) => {
        reads.add(`${view}:${feature}`);
        return this.#feature(view, feature, use);
      },
    });
  }

  /** By definition: the params, definitions, attributes, features and outputs that it uses directly. */
  get readsOfDefinitions(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#readsOf;
  }

  /** The definitions that are used. */
  get definitions(): NamedColumn[] {
    return this.#definitions.columns;
  }

  /** The expressions of the definitions that are used. */
  get writtenDefinitions(): WrittenExpression[] {
    return this.#definitions.written;
  }

  /** The kernels of definitions that were first used after the last call. */
  takeKernels(): readonly Kernel[] {
    return this.#definitions.takeKernels();
  }

  /** The definitions that nothing uses. */
  get unusedDefinitions(): readonly string[] {
    return this.#definitions.unused;
  }

  /**
   * Checks the definitions that neither a step nor the answer uses. The plan does not read what they name.
   * @returns their names
   */
  checkUnusedDefinitions(): string[] {
    const { unused } = this.#definitions;
    for (const name of unused) this.#name(name, undefined);
    return unused;
  }

  /** What has the name already, if it is no longer free for the outputs of a step. */
  isTaken(name: string): 'output' | 'view' | undefined {
    if (this.outputs.has(name)) return 'output';
    return this.#reads.bindings.has(name) ? 'view' : undefined;
  }

  /** The name that a column of a model stands for, see `BuildContext.needColumn`. */
  ofColumn(column: string): string {
    if (this.#definitions.has(column) || this.params.has(column) || /[.:]/.test(column)) return column;
    // The column of an element of a vector: its name ends with the number of the element.
    const element = /^(.+)__(0|[1-9]\d*)$/.exec(column);
    if (element !== null) {
      const [, vector = '', index = ''] = element;
      const name = this.ofColumn(vector);
      if (!this.#hasFeature(this.#named(column))) return `${name}[${index}]`;
    }
    return this.#named(column);
  }

  /** True for the full name of a feature or an output, whose own name may end with a number. */
  #hasFeature(name: string): boolean {
    const [view = '', feature] = name.split(':');
    return feature !== undefined && !('problem' in this.#feature(view, feature, undefined));
  }

  #named(column: string): string {
    for (let at = column.indexOf('__', 1); at >= 0; at = column.indexOf('__', at + 1)) {
      const [first, rest] = [column.slice(0, at), column.slice(at + 2)];
      if (this.#isProducer(first)) return `${first}:${rest}`;
      if (this.#reads.hydration.roots.has(first)) return `${first}.${rest.replaceAll('__', '.')}`;
    }
    return column.replace('__', ':');
  }

  /** A bare name: a param, a definition, or an entity of the request. */
  #name(name: string, use: NameUse | undefined): Source | NamedNumber | NameProblem {
    if (this.params.has(name)) return this.params.source(name, use);
    if (this.#definitions.has(name))
      return this.#definitions.source(name, () => this.#inDefinition(name, use), use);
    const { hydration } = this.#reads;
    if (hydration.roots.has(name)) return hydration.source([name], use !== undefined);
    return unknownName(name, this.#known());
  }

  /** An attribute, e.g. `product.brand.name`. */
  #path(segments: readonly string[], use: NameUse | undefined): Source | NameProblem {
    const [first = '', ...rest] = segments;
    const { hydration } = this.#reads;
    if (hydration.roots.has(first)) return hydration.source(segments, use !== undefined);
    if (this.params.has(first)) {
      return {
        problem: 'unknown_name',
        message: `\`${segments.join('.')}\`: a param is a number and has no attributes`,
        help: `write \`${first}\``,
      };
    }
    if (!this.#isProducer(first)) return unknownRoot(first, this.#known());
    return {
      problem: 'unknown_name',
      message: `\`${segments.join('.')}\`: features are written with a colon`,
      help: `did you mean \`${first}:${rest.join(':')}\`?`,
    };
  }

  /** A feature of a view, or an output of a step. */
  #feature(view: string, feature: string, use: NameUse | undefined): Source | NameProblem {
    const { bindings, hydration } = this.#reads;
    const found =
      this.outputs.source(view, feature, use !== undefined) ??
      bindings.source(view, feature, use !== undefined) ??
      this.#order.find(view, feature, use?.waiting ?? []);
    if (found !== undefined && !('waitsFor' in found)) return found;
    if (found !== undefined) {
      if (use !== undefined) use.waitsFor = found.waitsFor;
      return WAITING;
    }
    if (!hydration.roots.has(view)) return unknownProducer(view, feature, this.#known());
    return {
      problem: 'unknown_name',
      message: `\`${view}:${feature}\`: attributes are written with a dot`,
      help: `did you mean \`${view}.${feature}\`?`,
    };
  }

  /** Whether the name can stand before a colon. */
  #isProducer(name: string): boolean {
    return this.#reads.bindings.has(name) || this.#order.has(name) || this.outputs.has(name);
  }

  #known(): KnownNames {
    const { bindings, hydration } = this.#reads;
    return {
      roots: [...hydration.roots.keys()],
      definitions: [...this.params.names, ...this.#definitions.names],
      views: [...bindings.names],
      steps: [...new Set([...this.outputs.steps, ...this.#order.names])],
      features: [...bindings.features(), ...this.outputs.names],
      attributes: hydration.attributeNames(),
      unrequired: bindings.unrequired(),
    };
  }
}

const SCORE_IN_DEFINITION: NameProblem = {
  problem: 'unknown_name',
  message: '`score` changes from step to step, so a definition cannot use it',
  help: 'use `score` in the step that needs it',
};

/** No problem to report: the step is compiled again. */
const WAITING: NameProblem = { problem: 'used_before_produced', message: FAILED_ELSEWHERE };

/** Resolves no name once the step waits for another. The names are resolved when the step is compiled again. */
function unlessWaiting(use: NameUse | undefined, environment: Environment): Environment {
  const isWaiting = (): boolean => use?.waitsFor !== undefined;
  return {
    ...environment,
    name: (name) => (isWaiting() ? WAITING : environment.name(name)),
    path: (segments) => (isWaiting() ? WAITING : environment.path(segments)),
    feature: (view, feature) => (isWaiting() ? WAITING : environment.feature(view, feature)),
  };
}
