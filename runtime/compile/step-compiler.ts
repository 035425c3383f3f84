import type { BuildContext, FeatureComponent, ModelComponent, Plugin } from '../api/plugin.js';
import type { Input } from '../api/input.js';
import { OptionError } from '../api/plugin.js';
import type { Component } from '../api/plugin.js';
import { checkOptions, type CheckedOptions, type OptionPath } from '../config/project/check-options.js';
import type { Diagnostics } from '../config/diagnostics/diagnostics.js';
import type { PipelineDefinition, StepDefinition } from '../config/project/model.js';
import { nearest } from '../core/nearest.js';
import type { Located, Span } from '../config/yaml/source.js';
import type { FrameLayout } from '../frame/frame-layout.js';
import type { Caller } from '../outbound/http-connector.js';
import { treeEngine } from '../trees/tree-engine.js';
import { bindOptions } from './bind-options.js';
import { componentFaults } from './check-component.js';
import type { Kernel } from '../expression/environment.js';
import type { FeatureBindings } from './feature-bindings.js';
import type { HistoryReads } from './history-reads.js';
import type { HydrationBuilder } from './hydration-builder.js';
import type { Inputs } from './inputs.js';
import type { OptionFiles } from './option-files.js';
import type { PipelineNames } from './pipeline-names.js';
import type { NamedColumn, NeededFeature, PlannedStep } from './plan.js';
import { StepNeeded } from './step-order.js';

/** Finds plugins by the name that `use:` gives. */
export interface PluginRegistry {
  get(name: string): Plugin | undefined;
  names(): Iterable<string>;
  /** The file of a plugin. */
  place(name: string): Span | undefined;
}

export interface CompileSettings {
  /** The store's: reads carry the start of every key. */
  readonly prefix: string;
  /** The files that options name. */
  readonly files: OptionFiles;
  /** What components may use of the world outside. */
  readonly services: Pick<BuildContext, 'findPackage'> & {
    readonly http: (caller: Caller) => BuildContext['http'];
  };
}

/** The pipeline that a step is of, as far as it is compiled. */
export interface StepSurroundings {
  readonly definition: PipelineDefinition;
  readonly plugins: PluginRegistry;
  readonly settings: CompileSettings;
  readonly layout: FrameLayout;
  readonly hydration: HydrationBuilder;
  readonly bindings: FeatureBindings;
  readonly histories: HistoryReads;
  readonly names: PipelineNames;
  readonly inputs: Inputs;
  /** Of this pipeline. */
  readonly own: Diagnostics;
}

/** Compiles steps, one at a time: options are checked and bound, the component built, its outputs given columns. */
export class StepCompiler {
  readonly #parts: StepSurroundings;

  constructor(parts: StepSurroundings) {
    this.#parts = parts;
  }

  /**
   * @param number 1-based, as written
   * @returns undefined if it has errors, which are reported
   * @throws StepNeeded for a later step whose outputs it needs
   */
  async compile(step: StepDefinition, number: number): Promise<PlannedStep | undefined> {
    this.#parts.names.begin();
    const as = (step.as ?? step.use).value;
    const plugin = this.#parts.plugins.get(step.use.value);
    if (plugin === undefined) {
      const guess = nearest(step.use.value, this.#parts.plugins.names());
      this.#parts.own.error(
        'unknown_plugin',
        step.use.at,
        `there is no plugin \`${step.use.value}\``,
        guess === undefined
          ? `there is ${[...this.#parts.plugins.names()].join(', ')}`
          : `did you mean \`${guess}\`?`,
      );
      this.#parts.names.addFailed(as);
      return undefined;
    }
    this.#checkTask(plugin, step);
    const label = this.#label(as, number);
    const when = this.#condition(step.when, `${label}:when`);
    const inputs: Kernel[] = [];
    const computes: NamedColumn[] = [];
    const checked = checkOptions(step.with, plugin.options, this.#parts.own, step.at);
    const options =
      checked &&
      (await bindOptions(
        checked,
        this.#parts.settings.files,
        (text, type, scope, path) =>
          this.#parts.inputs.bind(
            text,
            { type, scope: scope === 'request' ? this.#requestScope : scope },
            this.#parts.names.environment,
            inputs,
            undefined,
            (slot) => computes.push({ name: `${label}:with.${path.join('.')}`, slot }),
          ),
        this.#parts.own,
      ));
    if (checked === undefined || options === undefined || when === 'failed') {
      this.#parts.names.addFailed(as);
      return undefined;
    }
    const needs = new Map<string, NeededFeature>();
    const component = await this.#create(plugin, step, checked, options, inputs, needs);
    if (component === undefined) {
      this.#parts.names.addFailed(as);
      return undefined;
    }
    const { prepare, readsScore, reads } = this.#parts.names;
    if (readsScore) inputs.unshift(this.#parts.names.copyScores);
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
      computes: Object.freeze(computes),
      outputs: this.#outputs(component, step, as),
      needs,
      reads: Object.freeze([...reads]),
    });
  }

  /** What has one value for a request: where one entity is scored, its values too. */
  get #requestScope(): 'request' | 'any' {
    return this.#parts.definition.task === 'rank' ? 'request' : 'any';
  }

  /** Where one entity is scored, no step may need others beside it. */
  #checkTask(plugin: Plugin, step: StepDefinition): void {
    if (this.#parts.definition.task === 'rank') return;
    if (plugin.kind !== 'filter' && plugin.amongCandidates !== true) return;
    const { value: use, at } = step.use;
    this.#parts.own.error(
      'ranking_only',
      at,
      `\`${use}\` works on the candidates of a ranking; this pipeline scores one \`${this.#parts.definition.candidateType.value}\``,
      plugin.kind === 'filter'
        ? 'answer the condition under `answer:`, or ask it with `when:`'
        : 'remove the step',
    );
  }

  /** What the values are called after that a step's own expressions compute; several rules may have one name. */
  #label(as: string, number: number): string {
    const { components } = this.#parts.definition;
    const isOnly = components.every((one, i) => i === number - 1 || (one.as ?? one.use).value !== as);
    return isOnly ? as : `${as}#${number}`;
  }

  #condition(when: Located<string> | undefined, name: string): PlannedStep['when'] | 'failed' {
    if (when === undefined) return undefined;
    const compiled = this.#parts.inputs.expression(
      when,
      { type: 'bool', scope: this.#requestScope },
      this.#parts.names.environment,
    );
    if (compiled === undefined) return 'failed';
    const { prepare, readsScore, copyScores } = this.#parts.names;
    prepare.push(...(readsScore ? [copyScores] : []), ...compiled.kernels);
    const { slot, computed } = compiled;
    return { slot, text: when.value, ...(computed ? { computes: { name, slot } } : {}) };
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
      if (typeof name !== 'string' || name.trim() === '')
        throw new Error('`need` takes a name such as product.price or view:feature, and got none');
      const at = place === undefined ? step.use.at : checked.locate(place);
      const bound = this.#parts.inputs.bind(
        { value: name, at },
        { type: 'any', scope: 'any' },
        this.#parts.names.environment,
        inputs,
        about,
      );
      if (bound === undefined) throw NEED_REPORTED;
      needs.set(name, this.#needed(name, bound));
      return bound;
    };
    const { definition, settings } = this.#parts;
    const name = (step.as ?? step.use).value;
    try {
      const created: unknown = await plugin.create(options as never, {
        name,
        candidateType: definition.candidateType.value,
        need: (name, place) => need(name, place),
        needColumn: (column, place) =>
          need(this.#parts.names.ofColumn(column), place, `the model's column \`${column}\`: `),
        needInteractions: (wanted) => this.#parts.histories.need(wanted),
        trees: treeEngine,
        http: settings.services.http({ pipeline: definition.name, step: name }),
        findPackage: (wanted) => settings.services.findPackage(wanted),
      });
      return this.#checked(created, plugin, step);
    } catch (error) {
      const faults = faultsIn(error);
      const needed = faults.find((fault) => fault instanceof StepNeeded);
      if (needed !== undefined) throw needed;
      for (const fault of faults) this.#reportFault(fault, step, checked);
      return undefined;
    }
  }

  /** What `create` returned, if it is a component; what is wrong with it is the plugin's fault, not the step's. */
  #checked(created: unknown, plugin: Plugin, step: StepDefinition): Component | undefined {
    const faults = componentFaults(created, plugin.kind);
    const at = this.#parts.plugins.place(plugin.name) ?? step.use.at;
    for (const { message, help } of faults) this.#parts.own.error('plugin_failed', at, message, help);
    return faults.length === 0 ? (created as Component) : undefined;
  }

  #reportFault(fault: unknown, step: StepDefinition, checked: CheckedOptions): void {
    if (fault === NEED_REPORTED) return;
    if (fault instanceof OptionError) {
      this.#parts.own.error(
        'invalid_option',
        checked.locate(fault.path, fault.part),
        fault.message,
        fault.help,
      );
      return;
    }
    const reason = fault instanceof Error ? fault.message : String(fault);
    this.#parts.own.error(
      'component_failed',
      step.use.at,
      `\`${step.use.value}\` could not be built: ${reason}`,
    );
  }

  /** Where `getFeature` finds what the component needs. */
  #needed(name: string, input: Input): NeededFeature {
    const [view] = name.split(':');
    const bound = name.includes(':') ? this.#parts.bindings.needed(view ?? '', input.slot) : undefined;
    if (bound !== undefined) return bound;
    // A value of the request is that of the entity that its path starts from, and of every candidate.
    const scope = this.#parts.layout.columns[input.slot]?.shape.scope ?? 'candidate';
    const { candidates, roots } = this.#parts.hydration;
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
    const taken = this.#parts.names.isTaken(as);
    if (taken !== undefined) {
      this.#parts.own.error(
        'duplicate_name',
        (step.as ?? step.use).at,
        `\`${as}\` is already the name of ${taken}`,
        'give this step a name of its own with `as:`',
      );
      return new Map();
    }
    return this.#parts.names.addOutputs(as, outputs);
  }
}

function versionOf(component: Component): { readonly version?: string } {
  const { version } = component as Partial<ModelComponent>;
  return version === undefined ? {} : { version };
}

/** A plugin may throw several faults at once, as an AggregateError. */
function faultsIn(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(faultsIn) : [error];
}

/** Thrown through a plugin's `create` when a name that it needs was wrong and has been reported. */
const NEED_REPORTED = new Error('a needed name is wrong');
