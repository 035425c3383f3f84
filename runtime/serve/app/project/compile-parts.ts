import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityBinding } from '../../../request/compile/need-entities.js';
import { compilePipeline } from '../../../request/compile/compile-pipeline.js';
import { defaultSink } from '../../../project/config/project/load-sinks.js';
import { compileSink, type CompiledSink, type SinkServices } from '../../../request/compile/compile-sink.js';
import { compileReader } from '../../../request/compile/compile-reader.js';
import { compileSource, type CompiledSource } from '../../../request/compile/compile-source.js';
import { isObjectPath } from '../../../ground/core/stored-files.js';
import type { OptionFiles } from '../../../request/compile/option-files.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { CurationLists } from '../../../state/curation/curation-lists.js';
import type { AddedLimits } from '../../../state/curation/rule-plan.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { withParams, type PipelineParams } from '../../../project/config/project/param-values.js';
import type { StepTools } from '../../../request/compile/step-tools.js';
import type { OpenReader } from '../../../state/readers/view-rows.js';
import type { LateReader } from '../plugins/late-reader.js';
import { type PluginHost } from '../plugins/plugin-host.js';
import { type Untrained } from './untrained.js';
import type { SharedServices } from '../plugins/shared-services.js';
import { type ProjectPlugins } from '../plugins/register-plugins.js';
import { AllowedHosts } from '../../../project/settings/allowed-hosts.js';
import { httpConnector, type OutboundObserver } from '../../../language/outbound/http-connector.js';
import { describePlan } from '../../../request/pipeline/explain/describe.js';
import type { PlanDescription } from '../../../request/pipeline/types.js';
import { changedParams, LiveExperiments } from '../../../request/experiments/live-experiments.js';
import { SETTINGS, type Settings } from '../../../project/settings/settings.js';
import { isLive } from '../../../project/config/model/experiment-modes.js';

export interface CompiledPipeline {
  readonly name: string;
  readonly plan: Plan;
  /** Undefined if no experiment changes what the pipeline answers. */
  readonly experiments: LiveExperiments | undefined;
  describe(): PlanDescription;
}

/** The settings that compiling depends on, and what a caller changes in the pipelines. */
export interface CompileOptions extends Partial<
  Pick<Settings, 'store' | 'prefix' | 'modelHosts' | 'imageHosts' | 'sinkHosts' | 'linkedFolders'>
> {
  /** By pipeline: values that replace those under `params:`. The caller checks them with `paramProblem`. */
  readonly params?: ReadonlyMap<string, PipelineParams>;
  /** The names of the pipelines to compile; by default all. A name that the project does not have is left out. */
  readonly pipelines?: readonly string[];
  /** Compiles for tuning: params stay open, and no sink is compiled. */
  readonly tunable?: boolean;
  /** Leaves the params open, so that explanations can try other values of them. By default they are fixed. */
  readonly opensParams?: boolean;
  /**
   * Compiles for tests of rankings: no sink is compiled, and features of Feast are read from the store. By pipeline and
   * name of the step: what replaces the component of a step.
   */
  readonly stubs?: ReadonlyMap<string, NonNullable<StepTools['stubs']>>;
  /** Compiles steps whose model is not trained yet: such a step predicts nothing. */
  readonly untrained?: Untrained;
  /** Contents by path that replace those of files that options name. */
  readonly optionFiles?: ReadonlyMap<string, Buffer>;
  /** What plugins may use of the process. By default they are only checked. */
  readonly pluginHost?: PluginHost;
  /** The folder with plugins/ and with the packages, if it is not that of the project. */
  readonly codeRoot?: string;
  /** What rules may add to plans; by default `ADDED_LIMITS`. */
  readonly addedLimits?: AddedLimits;
  /** How long the module of a plugin may take to load, in milliseconds. */
  readonly importMs?: number;
  /** The name of this process among the readers of a source; by default that of the host. */
  readonly consumer?: string;
  /** What sinks may use of the process. By default they only can be checked. */
  readonly sinkServices?: Omit<SinkServices, 'http' | 'findPackage' | 'files' | 'ofPlugin'>;
}

/** A project that is compiled. */
export interface Compiling {
  readonly options: CompileOptions;
  readonly host: PluginHost;
  readonly outbound: OutboundObserver | undefined;
  readonly checked: ProjectConfig;
  readonly plugins: ProjectPlugins;
  readonly curation: CurationLists;
  readonly files: OptionFiles;
  readonly reader: LateReader;
  readonly shared: SharedServices;
  readonly kept: EntityBinding[];
  readonly found: Diagnostics;
}

export async function compilePipelines(
  { options, checked, plugins, curation, files, found }: Compiling,
  services: StepTools['services'],
): Promise<CompiledPipeline[]> {
  const { prefix = SETTINGS.prefix.default, params, pipelines: wanted, tunable = false, stubs } = options;
  const settings = { prefix, files, services, tunable, curation };
  const compiled: CompiledPipeline[] = [];
  for (const written of checked.pipelines) {
    if (wanted?.includes(written.name) === false) continue;
    const definition = withParams(written, params?.get(written.name) ?? new Map<string, number>());
    await nextTurn(); // a service that reloads answers requests in between
    const own = stubs?.get(definition.name);
    const how = own === undefined ? settings : { ...settings, stubs: own };
    const live = tunable || stubs !== undefined ? [] : liveOf(checked, definition.name);
    const changed = changedParams(live);
    const open = {
      ...how,
      ...(changed.size > 0 && { tunable: changed, changed }),
      ...(options.opensParams === true && { tunable: true }),
      logsAll: logsAllOf(checked, definition.name),
    };
    const plan = await compilePipeline(definition, checked, plugins, open, found);
    if (plan === undefined) continue;
    const experiments = live.length === 0 ? undefined : await LiveExperiments.compile(plan, live, found);
    compiled.push({ name: definition.name, plan, experiments, describe: () => describePlan(plan) });
  }
  return compiled;
}

export async function compileSinks(
  { options, checked, plugins, files, found }: Compiling,
  { ofPlugin, findPackage }: StepTools['services'],
): Promise<CompiledSink[]> {
  const { sinkHosts = AllowedHosts.none, sinkServices = NO_SINK_SERVICES } = options;
  const http = httpConnector(sinkHosts, undefined, 'MILLRACE_SINK_HOSTS');
  const compiled: CompiledSink[] = [];
  for (const definition of sinksOf(checked, sinkServices.folder)) {
    const caller = { pipeline: '', step: definition.name };
    const used = {
      ...sinkServices,
      http: http(caller),
      findPackage,
      files,
      ofPlugin: (plugin: string) => ofPlugin(plugin, caller),
    };
    const sink = await compileSink(definition, plugins, used, found);
    if (sink !== undefined) compiled.push(sink);
  }
  return compiled;
}

const NO_SINK_SERVICES: NonNullable<CompileOptions['sinkServices']> = {
  instance: '',
  folder: '',
  keepMs: Infinity,
  keepBytes: Infinity,
  warn: () => undefined,
};

export async function compileSources(
  { options, checked, plugins, files, found }: Compiling,
  { ofPlugin, findPackage }: StepTools['services'],
): Promise<CompiledSource[]> {
  const { consumer = hostname() } = options;
  const compiled: CompiledSource[] = [];
  for (const definition of checked.sources) {
    const caller = { pipeline: '', step: definition.name };
    const used = { consumer, findPackage, files, ofPlugin: (plugin: string) => ofPlugin(plugin, caller) };
    const source = await compileSource(definition, plugins, used, found);
    if (source !== undefined) compiled.push(source);
  }
  return compiled;
}

/** Makes the readers of the views that pipelines, or programs that read features, may ask for: of all views. */
export async function compileReaders(
  { checked, plugins, files, found }: Compiling,
  { ofPlugin, findPackage, http }: StepTools['services'],
): Promise<OpenReader[]> {
  const compiled: OpenReader[] = [];
  for (const view of checked.views.values()) {
    if (view.reader === undefined) continue;
    const caller = { pipeline: '', step: view.name };
    const used = {
      ...{ files, findPackage, entities: checked.entities, http: http(caller) },
      ofPlugin: (plugin: string) => ofPlugin(plugin, caller),
    };
    const reader = await compileReader(view, view.reader, plugins, used, found);
    if (reader !== undefined) compiled.push(reader);
  }
  return compiled;
}

/** The experiments that change what a pipeline answers. */
function liveOf({ experiments }: ProjectConfig, pipeline: string): ProjectConfig['experiments'] {
  return experiments.filter((one) => one.pipeline.value === pipeline && isLive(one));
}

/** Whether a pipeline that logs all values has an arm that is this pipeline. */
function logsAllOf({ experiments, pipelines }: ProjectConfig, name: string): boolean {
  return experiments.some(
    ({ pipeline, arms }) =>
      [...arms.values()].some((arm) => arm.pipeline?.value === name) &&
      pipelines.some((one) => one.name === pipeline.value && one.log?.features === 'all'),
  );
}

/** The sinks of a project. If it has none, and logs its rankings or the rows of a view, they go to its ledger. */
function sinksOf({ sinks, pipelines, views }: ProjectConfig, ledger: string): ProjectConfig['sinks'] {
  if (sinks.length > 0) return sinks;
  const logs = pipelines.find(({ log }) => log !== undefined);
  const use = isObjectPath(ledger) ? 's3' : 'file';
  if (logs !== undefined) return [defaultSink(use, logs)];
  const recorded = [...views.values()].find(({ history }) => history === true);
  return recorded === undefined ? [] : [defaultSink(use, { at: recorded.at, file: recorded.at.file })];
}
