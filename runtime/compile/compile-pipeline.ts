import { Diagnostics } from '../config/diagnostics/diagnostics.js';
import type { PipelineDefinition, ProjectConfig } from '../config/project/model.js';
import { FrameLayout } from '../frame/frame-layout.js';
import { FramePool } from '../frame/pool.js';
import { closeComponents } from './component-life.js';
import type { Kernel } from '../expression/environment.js';
import { FUNCTIONS } from '../expression/functions/registry.js';
import { FeatureBindings } from './feature-bindings.js';
import { HistoryReads } from './history-reads.js';
import { HydrationBuilder } from './hydration-builder.js';
import { Inputs } from './inputs.js';
import { levelsOf } from './levels.js';
import { PipelineNames } from './pipeline-names.js';
import { attributesOf, shownColumns } from './shown-columns.js';
import type { Plan, PlannedStep } from './plan.js';
import { warnOfDeadParts } from './dead-parts.js';
import { StepCompiler, type CompileSettings, type PluginRegistry } from './step-compiler.js';
import { StepNeeded, StepOrder } from './step-order.js';

/**
 * Compiles a pipeline to its plan: names become slots, expressions become kernels, options become components.
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
  readonly #stepCompiler: StepCompiler;
  readonly #order: StepOrder;
  readonly #inputs: Inputs;
  /** In the order that they run. */
  readonly #steps: PlannedStep[] = [];
  readonly #own = new Diagnostics();

  constructor(
    readonly definition: PipelineDefinition,
    readonly config: ProjectConfig,
    plugins: PluginRegistry,
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
    this.#stepCompiler = new StepCompiler({
      definition,
      plugins,
      settings,
      layout: this.#layout,
      hydration: this.#hydration,
      bindings: this.#bindings,
      histories: this.#histories,
      names: this.#names,
      inputs: this.#inputs,
      own: this.#own,
    });
  }

  async compile(): Promise<Plan | undefined> {
    for (const [name, text] of this.definition.define) {
      if (FUNCTIONS.has(name))
        this.#own.error('reserved_name', text.at, `\`${name}\` is the name of a function`);
    }
    for (const index of this.definition.components.keys()) await this.#inOrder(index);
    const answer = this.#answer();
    const unusedDefinitions = this.#names.checkUnused();
    if (!this.#own.hasErrors) {
      this.#bindings.reportUnused(this.#own);
      warnOfDeadParts(
        { definition: this.definition, steps: this.#steps, names: this.#names, unusedDefinitions },
        this.#own,
      );
    }
    this.diagnostics.addAll(this.#own.all);
    const candidateType = this.config.entities.get(this.definition.candidateType.value);
    if (this.#own.hasErrors || candidateType === undefined) {
      await closeComponents(this.#steps.map(({ component }) => component));
      return undefined;
    }
    const features = this.#bindings.build();
    const nodes = this.#hydration.build(this.settings.prefix);
    const histories = this.#histories.build(this.settings.prefix);
    const { definitions } = this.#names;
    return Object.freeze({
      definition: this.definition,
      candidateType,
      entities: this.config.entities,
      layout: this.#layout,
      nodes: Object.freeze(nodes),
      levels: Object.freeze(levelsOf(nodes, features, histories)),
      definitions: Object.freeze(definitions),
      attributes: Object.freeze(attributesOf(nodes)),
      shown: shownColumns(this.#layout, definitions, this.#steps),
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
        const planned = await this.#stepCompiler.compile(step, index + 1);
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
    const { prepare, readsScore, copyScores, definitions } = this.#names;
    const named = values.filter(
      ({ name, slot }) => !definitions.some((one) => one.name === name && one.slot === slot),
    );
    return { values, named, kernels: [...(readsScore ? [copyScores] : []), ...prepare, ...kernels] };
  }
}
