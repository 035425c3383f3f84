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
import { type CompiledSink } from '../../../request/compile/compile-sink.js';
import { type CompiledSource } from '../../../request/compile/compile-source.js';
import { packageFinder } from '../../../ground/core/find-package.js';
import { OptionFiles } from '../../../request/compile/option-files.js';
import { APART_FROM_SCHEMAS } from '../../../project/config/diagnostics/diagnostic-codes.js';
import { Diagnostics, type Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { CurationLists } from '../../../state/curation/curation-lists.js';
import { DiagnosticsError } from '../../../project/config/diagnostics/diagnostics-error.js';
import { LinkedFolders } from '../../../project/settings/linked-folders.js';
import { loadProject } from '../../../project/config/project/load-project.js';
import { placeOf } from '../../../project/config/project/project-files.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { ReleaseCode } from '../../../state/releases/release-index.js';
import type { OpenReader } from '../../../state/readers/view-rows.js';
import { LateReader } from '../plugins/late-reader.js';
import { offlineHost, pluginServices } from '../plugins/plugin-host.js';
import { missingModels, withoutModels } from './untrained.js';
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
import { checkDrawnArms } from '../../../request/experiments/check-drawn-arms.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import { SETTINGS } from '../../../project/settings/settings.js';
import { isOwnEngine, STORE_ENGINES } from '../../../project/settings/store-engines.js';
import {
  compilePipelines,
  compileSinks,
  compileSources,
  compileReaders,
  type CompiledPipeline,
  type CompileOptions,
  type Compiling,
} from './compile-parts.js';

/** A project with errors. */
export class ProjectInvalidError extends DiagnosticsError {
  constructor(diagnostics: readonly Diagnostic[]) {
    super('project_invalid', 'the project', diagnostics);
    this.name = 'ProjectInvalidError';
  }
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
