import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SinkPlugin } from '../../../ground/api/ledger.js';
import type { ReaderPlugin } from '../../../ground/api/reader.js';
import type { SourcePlugin } from '../../../ground/api/source.js';
import type { Plugin } from '../../../ground/api/plugin.js';
import type { PluginServices } from '../../../ground/api/services.js';
import {
  closeComponents,
  everyStep,
  warmComponents,
  warmReaders,
} from '../../../request/compile/component-life.js';
import { EntityFilters } from '../../../request/compile/compile-filter.js';
import type { EntityBinding } from '../../../request/compile/need-entities.js';
import { compilePipeline } from '../../../request/compile/compile-pipeline.js';
import { defaultSink } from '../../../project/config/project/load-sinks.js';
import { compileSink, type CompiledSink, type SinkServices } from '../../../request/compile/compile-sink.js';
import { compileReader } from '../../../request/compile/compile-reader.js';
import { compileSource, type CompiledSource } from '../../../request/compile/compile-source.js';
import { packageFinder } from '../../../ground/core/find-package.js';
import { isObjectPath } from '../../../ground/core/stored-files.js';
import { OptionFiles } from '../../../request/compile/option-files.js';
import type { Plan } from '../../../request/compile/plan.js';
import { APART_FROM_SCHEMAS } from '../../../project/config/diagnostics/diagnostic-codes.js';
import { Diagnostics, type Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { CurationLists } from '../../../state/curation/curation-lists.js';
import type { AddedLimits } from '../../../state/curation/rule-plan.js';
import { DiagnosticsError } from '../../../project/config/diagnostics/diagnostics-error.js';
import { LinkedFolders } from '../../../project/settings/linked-folders.js';
import { DEFAULT_EVENTS } from '../../../project/config/project/load-events.js';
import { loadProject } from '../../../project/config/project/load-project.js';
import { placeOf } from '../../../project/config/project/project-files.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { SourceFile } from '../../../project/config/yaml/source.js';
import { withParams, type PipelineParams } from '../../../project/config/project/param-values.js';
import type { StepTools } from '../../../request/compile/step-tools.js';
import type { ReleaseCode } from '../../../state/releases/release-index.js';
import type { OpenReader } from '../../../state/readers/view-rows.js';
import { LateReader } from '../plugins/late-reader.js';
import { offlineHost, pluginServices, type PluginHost } from '../plugins/plugin-host.js';
import { missingModels, withoutModels, type Untrained } from './untrained.js';
import { openFront, type CompiledFront } from '../../fronts/open-front.js';
import { SharedServices } from '../plugins/shared-services.js';
import { registerPlugins, type ProjectPlugins } from '../plugins/register-plugins.js';
import { RESERVED_ROUTES } from '../../http/routes.js';
import { checkPass } from '../../http/routes/front.js';
import { AllowedHosts } from '../../../project/settings/allowed-hosts.js';
import {
  httpConnector,
  type Caller,
  type OutboundObserver,
} from '../../../language/outbound/http-connector.js';
import { describePlan } from '../../../request/pipeline/explain/describe.js';
import type { PlanDescription } from '../../../request/pipeline/types.js';
import { checkDrawnArms } from '../../../request/experiments/check-drawn-arms.js';
import { changedParams, LiveExperiments } from '../../../request/experiments/live-experiments.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import { SETTINGS, type Settings } from '../../../project/settings/settings.js';
import { isOwnEngine, STORE_ENGINES } from '../../../project/settings/store-engines.js';
import { isLive } from '../../../project/config/model/experiment-modes.js';

/** A project with errors. */
export class ProjectInvalidError extends DiagnosticsError {
  constructor(diagnostics: readonly Diagnostic[]) {
    super('project_invalid', 'the project', diagnostics);
    this.name = 'ProjectInvalidError';
  }
}

export interface CompiledPipeline {
  readonly name: string;
  readonly plan: Plan;
  /** Undefined if no experiment changes what the pipeline answers. */
  readonly experiments: LiveExperiments | undefined;
  describe(): PlanDescription;
}

export interface CompiledProject {
  /** Compiles conditions on entities; undefined if the project has errors. */
  readonly filters: EntityFilters | undefined;
  /** Undefined if the files could not be read; `diagnostics` says why. */
  readonly config: ProjectConfig | undefined;
  /** The pipelines without errors. */
  readonly pipelines: readonly CompiledPipeline[];
  /** The lists of curation/, with the rules of their files. */
  readonly curation: CurationLists;
  /** The fronts without errors. */
  readonly fronts: readonly CompiledFront[];
  /** The sinks without errors. They have not connected. */
  readonly sinks: readonly CompiledSink[];
  /** The sources without errors. They have not connected. */
  readonly sources: readonly CompiledSource[];
  /** The readers of views without errors. */
  readonly readers: readonly OpenReader[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the project declares, without pipelines, sinks and sources whose files have errors. */
  readonly declared: {
    /** Undefined if the files in schemas/ have errors. */
    readonly config: ProjectConfig | undefined;
    readonly plugins: readonly Plugin[];
    readonly sinks: readonly SinkPlugin[];
    readonly sources: readonly SourcePlugin[];
    readonly readers: readonly ReaderPlugin[];
  };
  /** The version of each file that options name, and of the code of packages, by path; undefined if the file could not be read. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Those of `files` that options name. */
  readonly optionFiles: ReadonlyMap<string, string | undefined>;
  /** The version of the release that it was read from, instead of the files of the project. */
  readonly release?: string | undefined;
  /** The code of its own plugins: packages and folders of plugins/. */
  readonly code: readonly ReleaseCode[];
  /** Reads the store for plugins, once it is bound to one. */
  readonly reader: LateReader;
  /** What components keep of entities, once it is bound to the store. */
  readonly kept: readonly EntityBinding[];
  /** The services of packages. */
  readonly shared: Pick<SharedServices, 'health'>;
  /** Closes the components, once; returns the errors. */
  close(): Promise<unknown[]>;
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

/**
 * Loads, checks and compiles a project, and warms up its components. Start-up, reloads and `validate` all use this
 * function. It does not need the store.
 * @throws RangeError if `params` holds a value that a pipeline does not take
 * @param outbound called with each request of a component to another server
 */
export async function compileProject(
  root: string,
  options: CompileOptions = {},
  outbound?: OutboundObserver,
): Promise<CompiledProject> {
  const { linkedFolders = LinkedFolders.none, stubs, optionFiles, importMs } = options;
  const loaded = await loadProject(root, process.env, RESERVED_ROUTES);
  const diagnostics = new Diagnostics();
  diagnostics.addAll(loaded.diagnostics);
  const checkable = stubs === undefined ? loaded.checkable : storedHere(loaded.checkable);
  const checked = checkable ?? loaded.partial;
  const curation = listsOf(checked, options);
  const missing =
    checked !== undefined && options.untrained !== undefined
      ? missingModels(checked, options.untrained)
      : new Set<string>();
  const empty = Array.from(missing, (path) => [path, Buffer.alloc(0)] as const);
  const files = new OptionFiles(
    checked?.root ?? root,
    linkedFolders,
    new Map<string, Buffer>([...empty, ...(optionFiles ?? [])]),
  );
  const reader = new LateReader();
  const kept: EntityBinding[] = [];
  const host = options.pluginHost ?? offlineHost();
  const shared = new SharedServices(host.running);
  // What has no errors is compiled even if other files have some, so that all errors are reported at once.
  const found = new Diagnostics();
  let plugins: ProjectPlugins | undefined;
  let parts = NO_PARTS;
  if (checked !== undefined) {
    const load = { linked: linkedFolders, packages: checked.packages, limitMs: importMs };
    plugins = await registerPlugins(options.codeRoot ?? checked.root, load, found);
    checkEngine(options.store ?? SETTINGS.store.default, plugins, found);
    plugins = withoutModels(plugins, missing);
    const compiling = {
      options,
      host,
      outbound,
      checked,
      plugins,
      curation,
      files,
      reader,
      shared,
      kept,
      found,
    };
    await startServices(compiling);
    parts = await compileParts(compiling);
  }
  const { pipelines, readers } = parts;
  diagnostics.addAll(
    checkable === undefined ? found.all.filter(({ code }) => APART_FROM_SCHEMAS.has(code)) : found.all,
  );
  if (!diagnostics.hasErrors) await curation.compile(diagnostics);
  if (!diagnostics.hasErrors) for (const { plan } of pipelines) await warmComponents(plan, diagnostics);
  if (!diagnostics.hasErrors) await warmReaders(readers, diagnostics);
  let closing: Promise<unknown[]> | undefined;
  return {
    config: stubs === undefined ? loaded.config : storedHere(loaded.config),
    ...parts,
    curation,
    diagnostics: diagnostics.all,
    reader,
    kept,
    declared: {
      config: checkable,
      plugins: plugins === undefined ? [] : [...plugins.names()].flatMap((name) => plugins.get(name) ?? []),
      sinks: [...(plugins?.sinks.values() ?? [])],
      sources: [...(plugins?.sources.values() ?? [])],
      readers: [...(plugins?.readers.values() ?? [])],
    },
    files: new Map([...files.versions, ...(plugins?.files ?? [])]),
    optionFiles: files.versions,
    code: plugins?.code ?? [],
    shared,
    close: () => (closing ??= closeAll(parts, shared)),
  };
}

function listsOf(
  checked: Pick<ProjectConfig, 'curation' | 'timeZone'> | undefined,
  { imageHosts, addedLimits }: CompileOptions,
): CurationLists {
  return new CurationLists(checked?.curation ?? [], checked?.timeZone, imageHosts, addedLimits);
}

/** What is compiled of a project whose files are loaded. */
type CompiledParts = Pick<
  CompiledProject,
  'filters' | 'pipelines' | 'fronts' | 'sinks' | 'sources' | 'readers'
>;

const NO_PARTS: CompiledParts = {
  filters: undefined,
  pipelines: [],
  fronts: [],
  sinks: [],
  sources: [],
  readers: [],
};

/** A project that is compiled. */
interface Compiling {
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

/** Starts the services of the packages, before any plugin is created. */
async function startServices({
  host,
  checked,
  plugins,
  files,
  reader,
  shared,
  found,
}: Compiling): Promise<void> {
  await shared.start(plugins.services, {
    options: checked.services,
    files,
    contextOf: (name) => {
      const caller = { pipeline: '', step: name };
      const { logger, metrics, now } = pluginServices(host, { reader, shared }, name, caller);
      return { logger, metrics, now };
    },
    diagnostics: found,
  });
}

async function compileParts(compiling: Compiling): Promise<CompiledParts> {
  const { options, host, outbound, checked, plugins, files, reader, shared, kept, found } = compiling;
  const {
    prefix = SETTINGS.prefix.default,
    modelHosts = AllowedHosts.none,
    tunable = false,
    stubs,
  } = options;
  const ofPlugin = (plugin: string, user: Caller): PluginServices =>
    pluginServices(host, { reader, shared }, plugin, user);
  const findPackage = packageFinder(options.codeRoot ?? checked.root);
  const follow = (binding: EntityBinding): unknown => kept.push(binding);
  const services = { ofPlugin, follow, http: httpConnector(modelHosts, outbound), findPackage };
  const filters = new EntityFilters(checked, plugins, { prefix, files, services });
  // If a plugin cannot be loaded, or a service cannot start, every step that uses it would only repeat that error.
  const isWhole = !found.all.some(({ code }) => code === 'plugin_failed') && shared.hasAll(plugins.services);
  const pipelines = isWhole ? await compilePipelines(compiling, services) : [];
  const readers = isWhole && stubs === undefined ? await compileReaders(compiling, services) : [];
  const plans = new Map(pipelines.map(({ name, plan }) => [name, plan]));
  checkDrawnArms(checked.experiments, plans, found);
  if (!isWhole || tunable || stubs !== undefined) return { ...NO_PARTS, filters, pipelines, readers };
  const fronts = checked.fronts.flatMap((front) => {
    const caller = { pipeline: front.pipeline.value, step: front.name };
    const opened = openFront(front, services.http(caller), found);
    if (opened !== undefined) checkPass(opened, found);
    return opened ?? [];
  });
  const sinks = await compileSinks(compiling, services);
  const sources = await compileSources(compiling, services);
  return { filters, pipelines, fronts, sinks, sources, readers };
}

async function compilePipelines(
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

async function compileSinks(
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

async function compileSources(
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
async function compileReaders(
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

async function closeAll(
  { pipelines, fronts, readers }: CompiledParts,
  shared: SharedServices,
): Promise<unknown[]> {
  const errors = await Promise.all([
    closeComponents(readers.map(({ reader }) => reader)),
    closeComponents(pipelines.flatMap(({ plan }) => everyStep(plan).map(({ component }) => component))),
    ...pipelines.map(({ experiments }) => experiments?.close() ?? []),
    ...fronts.map(({ client }) => client.close().then(() => [])),
  ]);
  // Services outlive the components that use them.
  return [...errors.flat(), ...(await shared.release())];
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

/** The project as if Millrace stored the rows of all its views. */
export function storedHere<T extends ProjectConfig | undefined>(config: T): T {
  if (config === undefined) return config;
  const views = Array.from(config.views, ([name, view]) => {
    const { source, reader, ...stored } = view;
    return [name, source === undefined && reader === undefined ? view : stored] as const;
  });
  return { ...config, views: new Map(views) };
}

/** Reports a store engine that neither Millrace nor a package of the project has. */
function checkEngine(store: string, { stores }: ProjectPlugins, diagnostics: Diagnostics): void {
  if (isOwnEngine(store) || stores.has(store)) return;
  const names = [...STORE_ENGINES, ...stores.keys()];
  diagnostics.error(
    'unknown_plugin',
    placeOf(PROJECT_FILE),
    `there is no store engine \`${store}\`: the setting \`store\` names it`,
    `the engines of this project are ${names.join(', ')}`,
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

/**
 * The version of a project: the first 12 hex digits of a SHA-256 over its YAML files and the versions of the files that
 * they name. Two instances have the same version exactly if they have the same files.
 */
export function projectVersion(config: ProjectConfig, files: CompiledProject['files']): string {
  const texts = yamlFilesOf(config).map((file) => [file.path, file.text]);
  const events = config.events === DEFAULT_EVENTS ? [] : [[PROJECT_FILE, eventsText(config.events)]];
  const all = [...texts, ...events, ...files].sort(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0));
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 12);
}

/** The YAML files of a project that its version depends on, apart from millrace.yaml. */
export function yamlFilesOf(config: ProjectConfig): readonly SourceFile[] {
  const files = [
    ...Array.from(config.entities.values(), ({ at }) => at?.file),
    ...Array.from(config.views.values(), ({ at }) => at.file),
    ...Array.from(config.counters.values(), ({ at }) => at.file),
    ...config.pipelines.map(({ file }) => file),
    ...config.sinks.map(({ file }) => file),
    ...config.sources.map(({ file }) => file),
    ...config.fronts.map(({ file }) => file),
    ...config.experiments.map(({ file }) => file),
  ];
  return files.flatMap((file) => file ?? []);
}

/** The kinds of feedback. The rest of millrace.yaml sets up a service, not the project. */
function eventsText(events: ProjectConfig['events']): string {
  return JSON.stringify([...events.values()].map(({ name, values }) => [name, [...values]]));
}
