import type { BuildContext, FeatureComponent, Input, ModelComponent, Plugin } from '../api/plugin.js';
import { OptionError } from '../api/plugin.js';
import type { Component } from '../api/plugin.js';
import { checkOptions, type CheckedOptions, type OptionPath } from '../config/check-options.js';
import { Diagnostics } from '../config/diagnostics.js';
import type { PipelineDefinition, ProjectConfig, StepDefinition } from '../config/model.js';
import { nearest } from '../config/nearest.js';
import type { Located } from '../config/source.js';
import { FrameLayout } from '../frame/layout.js';
import { FramePool } from '../frame/pool.js';
import { treeEngine } from '../trees/tree-engine.js';
import { bindOptions } from './bind-options.js';
import { closeComponents } from './component-life.js';
import type { Kernel } from './expression/environment.js';
import { FUNCTIONS } from './expression/functions/registry.js';
import { FeatureBindings } from './feature-bindings.js';
import { HistoryReads } from './history-reads.js';
import { HydrationBuilder } from './hydration-builder.js';
import { Inputs } from './inputs.js';
import { levelsOf } from './levels.js';
import type { OptionFiles } from './option-files.js';
import { PipelineNames } from './pipeline-names.js';
import type { NeededFeature, Plan, PlannedStep } from './plan.js';
import { StepNeeded, StepOrder } from './step-order.js';

/** Finds plugins by the name that `use:` gives. */
export interface PluginRegistry {
  get(name: string): Plugin | undefined;
  names(): Iterable<string>;
}

export interface CompileSettings {
  /** The store's: reads carry the start of every key. */
  readonly prefix: string;
  /** The files that options name. */
  readonly files: OptionFiles;
  /** What components may use of the world outside. */
  readonly services: Pick<BuildContext, 'http' | 'findPackage'>;
}

/**
 * Compiles a pipeline to its plan: names become column numbers, expressions kernels, options components.
 * @returns undefined if there were errors; they are in `diagnostics`.
 */
export async function compilePipeline(
  definition: PipelineDefinition,
  config: ProjectConfig,
  plugins: PluginRegistry,
  settings: CompileSettings,
  diagnostics: Diagnostics,
): Promise<Plan | undefined> {
  return new PipelineCompiler(definition, config, plugins, settings, diagnostics).compile();
}

class PipelineCompiler {
  readonly #layout = new FrameLayout();
  readonly #hydration: HydrationBuilder;
  readonly #bindings: FeatureBindings;
  readonly #histories: HistoryReads;
  readonly #names: PipelineNames;
  readonly #order: StepOrder;
  readonly #inputs: Inputs;
  /** In the order that they run. */
  readonly #steps: PlannedStep[] = [];
  readonly #own = new Diagnostics();

  constructor(
    readonly definition: PipelineDefinition,
    readonly config: ProjectConfig,
    readonly plugins: PluginRegistry,
    readonly settings: CompileSettings,
    readonly diagnostics: Diagnostics,
  ) {
    this.#hydration = new HydrationBuilder(definition, config.entities, this.#layout);
    this.#bindings = new FeatureBindings(definition, config.views, this.#hydration, this.#layout, this.#own);
    this.#histories = new HistoryReads(this.#hydration);
    this.#inputs = new Inputs(this.#layout, this.#own);
    this.#order = new StepOrder(definition.components, (use) => plugins.get(use)?.kind);
    this.#names = new PipelineNames(
      definition,
      this.#layout,
      this.#hydration,
      this.#bindings,
      this.#order,
      (text, names) => this.#inputs.expression(text, { type: 'any', scope: 'any' }, names),
    );
  }

  async compile(): Promise<Plan | undefined> {
    for (const [name, text] of this.definition.define) {
      if (FUNCTIONS.has(name))
        this.#own.error('reserved_name', text.at, `\`${name}\` is the name of a function`);
    }
    for (const index of this.definition.components.keys()) await this.#inOrder(index);
    const answer = this.#answer();
    this.#names.checkUnused();
    if (!this.#own.hasErrors) this.#bindings.reportUnused(this.#own);
    this.diagnostics.addAll(this.#own.all);
    const candidateType = this.config.entities.get(this.definition.subject.value);
    if (this.#own.hasErrors || candidateType === undefined) {
      await closeComponents(this.#steps.map(({ component }) => component));
      return undefined;
    }
    const features = this.#bindings.build();
    const nodes = this.#hydration.build(this.settings.prefix);
    const histories = this.#histories.build(this.settings.prefix);
    return Object.freeze({
      definition: this.definition,
      candidateType,
      entities: this.config.entities,
      layout: this.#layout,
      nodes: Object.freeze(nodes),
      levels: Object.freeze(levelsOf(nodes, features, histories)),
      definitions: Object.freeze(this.#names.definitions),
      steps: Object.freeze(this.#steps),
      answer: Object.freeze(answer),
      prefix: this.settings.prefix,
      frames: new FramePool(this.#layout),
    });
  }

  /** Compiles a step, and before it those whose outputs it needs. */
  async #inOrder(index: number): Promise<void> {
    const step = this.definition.components[index];
    if (step === undefined || this.#order.isDone(index)) return;
    this.#order.begin(index);
    for (;;) {
      try {
        const planned = await this.#step(step, index + 1);
        if (planned !== undefined) this.#steps.push(planned);
        break;
      } catch (error) {
        if (!(error instanceof StepNeeded)) throw error;
        this.#names.giveUp();
        await this.#inOrder(error.index);
      }
    }
    this.#order.end();
  }

  async #step(step: StepDefinition, number: number): Promise<PlannedStep | undefined> {
    this.#names.begin();
    const as = (step.as ?? step.use).value;
    const plugin = this.plugins.get(step.use.value);
    if (plugin === undefined) {
      const guess = nearest(step.use.value, this.plugins.names());
      this.#own.error(
        'unknown_plugin',
        step.use.at,
        `there is no plugin \`${step.use.value}\``,
        guess === undefined
          ? `there is ${[...this.plugins.names()].join(', ')}`
          : `did you mean \`${guess}\`?`,
      );
      this.#names.addFailed(as);
      return undefined;
    }
    this.#checkTask(plugin, step);
    const when = this.#condition(step.when);
    const inputs: Kernel[] = [];
    const checked = checkOptions(step.with, plugin.options, this.#own, step.at);
    const options =
      checked &&
      (await bindOptions(
        checked,
        this.settings.files,
        (text, type, scope) => this.#inputs.bind(text, { type, scope }, this.#names.environment, inputs),
        this.#own,
      ));
    if (checked === undefined || options === undefined || when === 'failed') {
      this.#names.addFailed(as);
      return undefined;
    }
    const needs = new Map<string, NeededFeature>();
    const component = await this.#create(plugin, step, checked, options, inputs, needs);
    if (component === undefined) {
      this.#names.addFailed(as);
      return undefined;
    }
    const { prepare, readsScore, reads } = this.#names;
    if (readsScore) inputs.unshift(this.#names.copyScores);
    return Object.freeze({
      number,
      use: step.use.value,
      kind: plugin.kind,
      as,
      component,
      ...versionOf(component),
      onError: step.onError,
      top: step.top?.value,
      when,
      prepare: Object.freeze(prepare),
      inputs: Object.freeze(inputs),
      outputs: this.#outputs(component, step, as),
      needs,
      reads: Object.freeze([...reads]),
    });
  }

  /** Where one entity is scored, no step may need others beside it. */
  #checkTask(plugin: Plugin, step: StepDefinition): void {
    if (this.definition.task === 'rank') return;
    if (plugin.kind !== 'filter' && plugin.amongCandidates !== true) return;
    const { value: use, at } = step.use;
    this.#own.error(
      'ranking_only',
      at,
      `\`${use}\` works on the candidates of a ranking; this pipeline scores one \`${this.definition.subject.value}\``,
      plugin.kind === 'filter'
        ? 'answer the condition under `answer:`, or ask it with `when:`'
        : 'remove the step',
    );
  }

  /** What `answer:` gives names to; compiled after all steps, so that it sees their outputs and the last score. */
  #answer(): Plan['answer'] {
    this.#names.begin();
    const kernels: Kernel[] = [];
    const values = [...this.definition.answer].flatMap(([name, text]) => {
      const expected = { type: 'any', scope: 'any' } as const;
      const compiled = this.#inputs.expression(text, expected, this.#names.environment);
      if (compiled === undefined) return [];
      kernels.push(...compiled.kernels);
      return { name, slot: compiled.slot, type: compiled.type, text: text.value };
    });
    const { prepare, readsScore, copyScores } = this.#names;
    return { values, kernels: [...(readsScore ? [copyScores] : []), ...prepare, ...kernels] };
  }

  #condition(when: Located<string> | undefined): PlannedStep['when'] | 'failed' {
    if (when === undefined) return undefined;
    const compiled = this.#inputs.expression(
      when,
      { type: 'bool', scope: this.definition.task === 'rank' ? 'request' : 'any' },
      this.#names.environment,
    );
    if (compiled === undefined) return 'failed';
    this.#names.prepare.push(...compiled.kernels);
    return { slot: compiled.slot, text: when.value };
  }

  async #create(
    plugin: Plugin,
    step: StepDefinition,
    checked: CheckedOptions,
    options: unknown,
    inputs: Kernel[],
    needs: Map<string, NeededFeature>,
  ): Promise<Component | undefined> {
    const need = (name: string, place?: OptionPath, about?: string): Input => {
      const at = place === undefined ? step.use.at : checked.locate(place);
      const bound = this.#inputs.bind(
        { value: name, at },
        { type: 'any', scope: 'any' },
        this.#names.environment,
        inputs,
        about,
      );
      if (bound === undefined) throw NEED_REPORTED;
      needs.set(name, this.#needed(name, bound));
      return bound;
    };
    try {
      return await plugin.create(options as never, {
        name: (step.as ?? step.use).value,
        candidateType: this.definition.subject.value,
        need: (name, place) => need(name, place),
        needColumn: (column, place) =>
          need(this.#names.ofColumn(column), place, `the model's column \`${column}\`: `),
        needInteractions: (wanted) => this.#histories.need(wanted),
        trees: treeEngine,
        ...this.settings.services,
      });
    } catch (error) {
      if (error === NEED_REPORTED) return undefined;
      if (error instanceof StepNeeded) throw error;
      if (error instanceof OptionError) {
        this.#own.error('invalid_option', checked.locate(error.path), error.message, error.help);
      } else {
        const reason = error instanceof Error ? error.message : String(error);
        this.#own.error(
          'component_failed',
          step.use.at,
          `\`${step.use.value}\` could not be built: ${reason}`,
        );
      }
      return undefined;
    }
  }

  /** Where `getFeature` finds what the component needs. */
  #needed(name: string, input: Input): NeededFeature {
    const [view] = name.split(':');
    const bound = name.includes(':') ? this.#bindings.needed(view ?? '', input.slot) : undefined;
    if (bound !== undefined) return bound;
    // A value of the request is that of the entity that its path starts from, and of every candidate.
    const scope = this.#layout.columns[input.slot]?.shape.scope ?? 'candidate';
    const { candidates, roots } = this.#hydration;
    const of = scope === 'candidate' ? candidates : roots.get(name.split('.')[0] ?? '');
    return {
      slot: input.slot,
      scope,
      types: of === undefined ? [] : [of.entity.name],
      ids: of === undefined ? [] : [of.ids],
    };
  }

  #outputs(component: Component, step: StepDefinition, as: string): ReadonlyMap<string, number> {
    const outputs = (component as Partial<FeatureComponent>).outputs;
    if (outputs === undefined) return new Map();
    const taken = this.#names.isTaken(as);
    if (taken !== undefined) {
      this.#own.error(
        'duplicate_name',
        (step.as ?? step.use).at,
        `\`${as}\` is already the name of ${taken}`,
        'give this step a name of its own with `as:`',
      );
      return new Map();
    }
    return this.#names.addOutputs(as, outputs);
  }
}

function versionOf(component: Component): { readonly version?: string } {
  const { version } = component as Partial<ModelComponent>;
  return version === undefined ? {} : { version };
}

/** Thrown through a plugin's `create` when a name that it needs was wrong and has been reported. */
const NEED_REPORTED = new Error('a needed name is wrong');
