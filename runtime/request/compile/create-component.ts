import type { BuildContext } from '../../ground/api/build-context.js';
import type { Input } from '../../ground/api/input.js';
import type { CurationBinding } from '../../state/curation/curation-binding.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { Component } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { CheckedOptions, OptionPath } from '../../project/config/project/check-options.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { CurationRule } from '../../project/config/model/curation.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import type { Expected } from '../../language/expression/compile.js';
import type { Kernel } from '../../language/expression/environment.js';
import { treeEngine } from '../../language/trees/tree-engine.js';
import type { BoundOptions } from './bind-step.js';
import { componentFaults } from './check-component.js';
import { ANYTHING, compileText, inputOf } from './compile-input.js';
import { compileWhere } from './compile-where.js';
import { closeComponents } from './component-life.js';
import { NameUse } from './name-use.js';
import type { OpenPipeline } from './open-pipeline.js';
import { needCuration } from './need-curation.js';
import { needEntities } from './need-entities.js';
import type { RecordedInputs } from './recorded-inputs.js';
import { neededFeature } from './pipeline-reads.js';
import type { NeededFeature } from './plan.js';
import { nameOf } from './step-order.js';
import type { StepTools } from './step-tools.js';

export interface CreatedComponent {
  readonly component: Component;
  /** The kernels that compute what it needs. */
  readonly inputs: readonly Kernel[];
  /** By the name that it needs. */
  readonly needs: ReadonlyMap<string, NeededFeature>;
  /** The rules in the files of the lists that it applies. */
  readonly rules: readonly CurationRule[];
}

/** A step whose component is created. */
export interface CreatingStep {
  readonly step: StepDefinition;
  readonly plugin: Plugin;
  readonly bound: BoundOptions;
  readonly use: NameUse;
  readonly pipeline: OpenPipeline;
  readonly tools: StepTools;
  /** Learns the columns that the component asks for. */
  readonly recorded: RecordedInputs;
}

/** What a component asks for in its `create`. */
interface Asked {
  readonly inputs: Kernel[];
  readonly needs: Map<string, NeededFeature>;
  readonly bindings: CurationBinding[];
}

/**
 * Calls a plugin's `create`, and checks what it returns.
 * @returns undefined if there were errors, which are reported, or if the step waits for another
 */
export async function createComponent(creating: CreatingStep): Promise<CreatedComponent | undefined> {
  const { step, plugin, use, recorded } = creating;
  const { checked, value } = creating.bound;
  const { plugins, curation } = creating.tools;
  const { diagnostics } = creating.pipeline;
  const asked: Asked = { inputs: [], needs: new Map(), bindings: [] };
  try {
    const build = recorded.recording(buildOf(creating, asked));
    const created: unknown = await plugin.create(value as never, build);
    const faults = componentFaults(created, plugin.kind);
    if (use.waitsFor !== undefined) {
      // The plugin went on without a name that it needs. It gets the name when the step is compiled again.
      if (faults.length === 0) await closeComponents([created as Component]);
      return undefined;
    }
    const { inputs, needs, bindings } = asked;
    for (const binding of bindings) curation?.bind(binding);
    // What is wrong with a component is the fault of the plugin, not of the step.
    const at = plugins.place(plugin.name) ?? step.use.at;
    for (const { message, help } of faults) diagnostics.error('plugin_failed', at, message, help);
    if (faults.length > 0) return undefined;
    const rules = bindings.flatMap(({ list }) => curation?.get(list)?.rules.file ?? []);
    return { component: created as Component, inputs, needs, rules };
  } catch (error) {
    // A step that waits is compiled again, so its errors are reported then.
    if (use.waitsFor === undefined)
      for (const fault of faultsIn(error)) reportFault(fault, step, checked, diagnostics);
    return undefined;
  }
}

/** A retriever runs before there are candidates. */
const OF_REQUEST: Expected = { type: 'any', scope: 'request' };

/** What the `create` of a component gets. */
function buildOf({ step, plugin, bound, use, pipeline, tools }: CreatingStep, asked: Asked): BuildContext {
  const { definition, names, reads, columns, eventKinds, diagnostics } = pipeline;
  const { services, files, curation } = tools;
  const { checked } = bound;
  const environment = names.environment(use);
  const need = (name: string, place?: OptionPath, about?: string): Input => {
    if (typeof name !== 'string' || name.trim() === '')
      throw new Error('`need` expects a name such as product.price or view:feature');
    const at = place === undefined ? step.use.at : checked.locate(place);
    const expected = plugin.kind === 'retriever' ? OF_REQUEST : ANYTHING;
    const compiled = compileText({ value: name, at }, expected, environment, diagnostics, about);
    if (compiled === undefined) throw NEED_FAILED;
    asked.inputs.push(...compiled.kernels);
    const input = inputOf(compiled, name, reads.layout);
    asked.needs.set(name, neededFeature(name, input, reads));
    return input;
  };
  const caller = { pipeline: definition.name, step: nameOf(step) };
  return {
    name: nameOf(step),
    pipeline: definition.name,
    candidateType: definition.candidateType.value,
    eventKinds,
    need: (name, place) => need(name, place),
    needColumn: (column, place) => need(names.ofColumn(column), place, `the model's column \`${column}\`: `),
    needInteractions: (wanted) => reads.histories.need(wanted),
    needCuration: (wanted) => {
      const binding = needCuration(wanted, {
        pipeline: definition.name,
        names: environment,
        others: names.environment(new NameUse([])),
        layout: reads.layout,
        columns,
        lists: curation,
        locate: (path) => checked.locate(path),
        diagnostics,
      });
      asked.bindings.push(binding);
      return binding;
    },
    needEntities: (wanted) => {
      const binding = needEntities(wanted, reads.hydration);
      services.follow?.(binding);
      if (wanted.where === undefined) return binding;
      const where = { ...wanted, where: wanted.where };
      const at = checked.locate(wanted.where.option);
      binding.where = compileWhere(where, at, environment, reads.hydration, diagnostics);
      if (binding.where === undefined) throw NEED_FAILED;
      services.follow?.(binding.where.columns);
      return binding;
    },
    trees: treeEngine,
    ...services.ofPlugin(plugin.name, caller),
    http: services.http(caller),
    ...(definition.task === 'rank' ? { pageSize: definition.page.maxSize } : {}),
    // A step that waits is compiled again, so it warns then. A param can get a value for which there is no warning.
    warn: (place, message, help) => {
      if (use.waitsFor === undefined && checked.params.size === 0)
        diagnostics.warning('no_effect', checked.locate(place), message, help);
    },
    findFile: (path) => files.find(path),
    findPackage: (wanted) => services.findPackage(wanted),
  };
}

/** Thrown through `create` if a needed name cannot be read now: it is wrong and reported, or the step waits for it. */
const NEED_FAILED = new Error('a needed name cannot be read');

/** A plugin may throw several faults at once, as an AggregateError. */
function faultsIn(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(faultsIn) : [error];
}

function reportFault(
  fault: unknown,
  { use }: StepDefinition,
  checked: CheckedOptions,
  diagnostics: Diagnostics,
): void {
  if (fault === NEED_FAILED) return;
  if (fault instanceof OptionError) {
    diagnostics.error('invalid_option', checked.locate(fault.path, fault.part), fault.message, fault.help);
    return;
  }
  const reason = fault instanceof Error ? fault.message : String(fault);
  diagnostics.error('component_failed', use.at, `\`${use.value}\` could not be created: ${reason}`);
}
