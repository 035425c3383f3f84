import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { container as rootContainer } from 'tsyringe';
import type { SinkPlugin } from '../../../ground/api/ledger.js';
import type { Plugin } from '../../../ground/api/plugin.js';
import type { ReaderPlugin } from '../../../ground/api/reader.js';
import type { SourcePlugin } from '../../../ground/api/source.js';
import type { StoreEnginePlugin } from '../../../ground/api/store-engine.js';
import { pluginToken } from '../../../ground/api/tokens.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { PluginRegistry } from '../../../request/compile/step-tools.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { LinkedFolders } from '../../../project/settings/linked-folders.js';
import { nameHelp } from '../../../project/config/project/marks.js';
import { placeOf, reasonOf } from '../../../project/config/project/project-files.js';
import { SourceFile, type Located, type Span } from '../../../project/config/yaml/source.js';
import { PACKAGE, SHIPPED_PLUGINS } from '../../../ground/core/locations.js';
import { STORE_ENGINES } from '../../../project/settings/store-engines.js';
import { findJsonFault } from '../../../ground/core/json-fault.js';
import type { ReleaseCode } from '../../../state/releases/release-index.js';
import { resolveApiToThisCopy } from './api-module.js';
import { checkPlugin, type DeclaredByFolder, type PluginFault, type PluginSource } from './check-plugin.js';
import { codeVersion, codeVersions, importModule } from './import-module.js';
import { importShipped } from './import-shipped.js';
import { firstLine } from './first-line.js';
import type { NamedService } from './check-package.js';
import type { DeclaredService } from './shared-services.js';
import { loadPackage } from './load-package.js';
import { compiledFolders, type PluginFolder } from './compiled-folders.js';

/** Parts of Node's messages for modules that it cannot load before 20.19, each with the remedy. */
const OLD_NODE: readonly (readonly [string, string])[] = [
  [
    'import statement outside a module',
    'add a package.json to the project: { "type": "module", "private": true }',
  ],
  ['require() of ES Module', 'write `import` instead of `require`, or run Node 20.19 or later'],
];

/** What the registry knows of each plugin, for lists of plugins. */
export interface RegisteredPlugin {
  readonly surface: 'component' | 'sink' | 'source' | 'reader' | 'store' | 'service';
  readonly plugin: Plugin | SinkPlugin | SourcePlugin | ReaderPlugin | StoreEnginePlugin | NamedService;
  readonly origin: PluginOrigin;
}

/** Where a plugin comes from. */
export type PluginOrigin =
  | { readonly kind: 'millrace' | 'project' }
  | { readonly kind: 'package'; readonly name: string; readonly version: string; readonly api: string };

const PROJECT: PluginOrigin = { kind: 'project' };

/** The plugins that a project can use. */
export interface ProjectPlugins extends PluginRegistry {
  /** All plugins, those that ship with Millrace first. */
  readonly all: readonly RegisteredPlugin[];
  /** The store engines of packages, by name. */
  readonly stores: ReadonlyMap<string, StoreEnginePlugin>;
  /** The services that packages share, in the order of the packages. */
  readonly services: readonly DeclaredService[];
  /** The files of code of packages, relative to the project, with their versions. */
  readonly files: ReadonlyMap<string, string>;
  /** The packages, and the folders of plugins of the project, each with the version of its code. */
  readonly code: readonly ReleaseCode[];
}

/** What loading plugins depends on. */
export interface PluginOptions {
  /** Folders that links of the project may point to. */
  readonly linked: LinkedFolders;
  /** The packages that millrace.yaml names. */
  readonly packages: readonly Located<string>[];
  /** How long the module of a package may take to load, in milliseconds. */
  readonly limitMs?: number | undefined;
}

/**
 * Registers the shipped plugins, those of the project's `plugins/` folder and those of its packages, and reports their
 * errors.
 */
export async function registerPlugins(
  project: string,
  options: PluginOptions,
  diagnostics: Diagnostics,
): Promise<ProjectPlugins> {
  const registration = new Registration(diagnostics);
  for (const loaded of await loadFolders(project, options, diagnostics)) registration.addFolder(loaded);
  const { linked, packages, limitMs } = options;
  if (packages.length > 0) resolveApiToThisCopy();
  for (const wanted of packages)
    registration.addPackage(wanted, await loadPackage(wanted, resolve(project), linked, limitMs));
  return registration.plugins;
}

/** The shipped folders, and then those of the project. */
async function loadFolders(
  project: string,
  { linked, limitMs }: PluginOptions,
  diagnostics: Diagnostics,
): Promise<LoadedFolder[]> {
  const shipped = await shippedPlugins();
  const own: LoadedFolder[] = [];
  for (const folder of await ownFolders(project, shipped, diagnostics))
    own.push({
      folder,
      loaded: (await refusal(folder, project, linked)) ?? (await loadPlugin(folder, limitMs)),
      code: codeVersion(await codeVersions(folder.path)),
    });
  return [...shipped, ...own];
}

/** The plugins that have their names so far. */
class Registration {
  readonly #container = rootContainer.createChildContainer();
  readonly #sinks = new Map<string, SinkPlugin>();
  readonly #sources = new Map<string, SourcePlugin>();
  readonly #readers = new Map<string, ReaderPlugin>();
  readonly #stores = new Map<string, StoreEnginePlugin>();
  readonly #services: DeclaredService[] = [];
  readonly #components = new Set<string>();
  readonly #places = new Map<string, Span>();
  readonly #owners = new Map<string, string>(STORE_ENGINES.map((name) => [`store ${name}`, 'Millrace']));
  readonly #files = new Map<string, string>();
  readonly #code: ReleaseCode[] = [];
  readonly #all: RegisteredPlugin[] = [];
  readonly #diagnostics: Diagnostics;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  get plugins(): ProjectPlugins {
    return {
      names: () => this.#components.values(),
      get: (name) => (this.#components.has(name) ? this.#container.resolve(pluginToken(name)) : undefined),
      place: (name) => this.#places.get(name),
      isShipped: (name) => this.#owners.get(name) === 'Millrace',
      sinks: this.#sinks,
      sources: this.#sources,
      readers: this.#readers,
      stores: this.#stores,
      services: this.#services,
      files: this.#files,
      code: this.#code,
      all: this.#all,
    };
  }

  addFolder({ folder, loaded, code }: LoadedFolder): void {
    if (isFaults(loaded)) {
      this.#report(loaded);
      return;
    }
    if (code !== undefined) this.#code.push({ name: folder.shown, version: code });
    const isShipped = dirname(folder.path) === SHIPPED_PLUGINS;
    if (loaded.declared.some((one) => this.#ownerOf({ ...one, origin: PROJECT }) !== undefined)) {
      const message = `Millrace ships a plugin called \`${basename(folder.path)}\``;
      const help = 'give the folder and the plugin another name';
      this.#diagnostics.error('plugin_failed', placeOf(folder.shown), message, help);
      return;
    }
    const origin: PluginOrigin = isShipped ? { kind: 'millrace' } : PROJECT;
    for (const one of loaded.declared) {
      this.#add({ ...one, origin }, isShipped ? 'Millrace' : `${folder.shown} of the project`);
      if (one.surface === 'component') this.#places.set(one.plugin.name, placeOf(`${folder.shown}/index.js`));
    }
  }

  addPackage(wanted: Located<string>, loaded: Awaited<ReturnType<typeof loadPackage>>): void {
    if (isFaults(loaded)) {
      this.#report(loaded);
      return;
    }
    const { name, version, api, contents } = loaded;
    for (const [file, code] of loaded.files) this.#files.set(file, code);
    this.#code.push({ name, version: codeVersion(loaded.files) });
    const origin: PluginOrigin = { kind: 'package', name, version, api };
    const found: RegisteredPlugin[] = [
      ...contents.plugins.map((plugin) => ({ surface: 'component' as const, plugin, origin })),
      ...contents.sinks.map((plugin) => ({ surface: 'sink' as const, plugin, origin })),
      ...contents.sources.map((plugin) => ({ surface: 'source' as const, plugin, origin })),
      ...contents.readers.map((plugin) => ({ surface: 'reader' as const, plugin, origin })),
      ...contents.stores.map((plugin) => ({ surface: 'store' as const, plugin, origin })),
      ...contents.services.map((plugin) => ({ surface: 'service' as const, plugin, origin })),
    ];
    for (const one of found) {
      const owner = this.#ownerOf(one);
      if (owner === undefined) {
        this.#add(one, `\`${name}\``);
        if (one.surface === 'service') {
          const plugin = one.plugin as NamedService;
          const code = codeVersion(loaded.files);
          this.#services.push({ name: plugin.name, plugin, package: name, code, at: wanted.at });
        }
      } else
        this.#diagnostics.error(
          'plugin_failed',
          wanted.at,
          `\`${name}\`: its ${SURFACE_WORDS[one.surface]} \`${one.plugin.name}\` has the name of ${ownedBy(owner, name)}`,
          owner.endsWith('of the project')
            ? 'give the folder and its plugin another name'
            : 'remove one of the two; the author of the package can choose another name',
        );
    }
  }

  /** What has the name already. */
  #ownerOf(one: RegisteredPlugin): string | undefined {
    return this.#owners.get(nameOf(one));
  }

  #add(one: RegisteredPlugin, owner: string): void {
    const { name } = one.plugin;
    this.#owners.set(nameOf(one), owner);
    this.#all.push(one);
    if (one.surface === 'store') this.#stores.set(name, one.plugin as StoreEnginePlugin);
    else if (one.surface === 'sink') this.#sinks.set(name, one.plugin as SinkPlugin);
    else if (one.surface === 'source') this.#sources.set(name, one.plugin as SourcePlugin);
    else if (one.surface === 'service') return;
    else if (one.surface === 'reader') this.#readers.set(name, one.plugin as ReaderPlugin);
    else {
      this.#components.add(name);
      this.#container.register(pluginToken(name), { useValue: one.plugin as Plugin });
    }
  }

  #report(faults: readonly PluginFault[]): void {
    for (const { at, message, help } of faults) this.#diagnostics.error('plugin_failed', at, message, help);
  }
}

/** Components and sinks share their names, as their folders do. A source or a reader can have the name of another. */
function nameOf({ surface, plugin }: RegisteredPlugin): string {
  return `${surface === 'component' || surface === 'sink' ? '' : `${surface} `}${plugin.name}`;
}

function ownedBy(owner: string, name: string): string {
  if (owner === 'Millrace') return 'one that Millrace ships';
  return owner === `\`${name}\`` ? 'another of the package' : `one of ${owner}`;
}

const SURFACE_WORDS = {
  component: 'plugin',
  sink: 'sink',
  source: 'source',
  reader: 'reader',
  store: 'store engine',
  service: 'service',
} as const;

interface LoadedFolder {
  readonly folder: PluginFolder;
  readonly loaded: DeclaredByFolder | readonly PluginFault[];
  /** The version of the code of a folder of the project. */
  readonly code?: string;
}

let shippedOnce: Promise<readonly LoadedFolder[]> | undefined;

/** Loads the shipped plugins once: their files do not change while the process runs. */
function shippedPlugins(): Promise<readonly LoadedFolder[]> {
  shippedOnce ??= foldersIn(SHIPPED_PLUGINS).then((folders) =>
    Promise.all(folders.map(async (folder) => ({ folder, loaded: await loadPlugin(folder) }))),
  );
  return shippedOnce;
}

async function ownFolders(
  project: string,
  shipped: readonly LoadedFolder[],
  diagnostics: Diagnostics,
): Promise<readonly PluginFolder[]> {
  const own = await foldersIn(join(resolve(project), 'plugins'));
  // Millrace's own folder also contains the sources of the shipped plugins.
  const sources = join(PACKAGE, 'plugins');
  const shippedNames = new Set(shipped.map(({ folder }) => basename(folder.path)));
  const isSource = ({ path }: PluginFolder): boolean =>
    dirname(path) === sources && shippedNames.has(basename(path));
  const added = own.filter((folder) => !isSource(folder) && isWellNamed(folder, diagnostics));
  if (added.length > 0) resolveApiToThisCopy();
  return compiledFolders(added, shippedNames, diagnostics);
}

/** A folder that cannot be a plugin is reported, because its author may believe that it is one. */
function isWellNamed({ path, shown }: PluginFolder, diagnostics: Diagnostics): boolean {
  const name = basename(path);
  if (NAME_PATTERN.test(name)) return true;
  const message = `\`${name}\` cannot be the name of a plugin`;
  diagnostics.error('plugin_failed', placeOf(shown), message, nameHelp(name));
  return false;
}

async function foldersIn(parent: string): Promise<PluginFolder[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .map(({ name }) => ({ path: join(parent, name), shown: `plugins/${name}` }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const isFolder = await Promise.all(folders.map(async ({ path }) => !(await isFile(path)))); // or a link to a file
  return folders.filter((_, index) => isFolder[index]);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Returns why a plugin may not be loaded if its folder, or one of its files, is a link. */
async function refusal(
  { shown }: PluginFolder,
  project: string,
  linked: LinkedFolders,
): Promise<readonly PluginFault[] | undefined> {
  for (const one of [shown, `${shown}/index.js`]) {
    const followed = await linked.follow(project, one).catch(() => undefined);
    if (typeof followed === 'object') return [{ at: placeOf(one), ...followed }];
  }
  return undefined;
}

async function loadPlugin(
  { path, shown }: PluginFolder,
  limitMs?: number,
): Promise<DeclaredByFolder | readonly PluginFault[]> {
  const file = join(path, 'index.js');
  const name = basename(path);
  // The schema is checked before the module is loaded. The module reads it too, but its errors are less precise.
  const schema = await readSchema(path, shown);
  if (schema !== undefined && isFaults(schema)) return schema;
  const index = placeOf(`${shown}/index.js`);
  const source: PluginSource = { name, index, schema, isShipped: dirname(path) === SHIPPED_PLUGINS };
  try {
    if (source.isShipped) return checkPlugin(await importShipped(name), source);
    return checkPlugin(
      await importModule(file, path, codeVersion(await codeVersions(path)), limitMs),
      source,
    );
  } catch (error) {
    const message = firstLine(error);
    const help = OLD_NODE.find(([part]) => message.includes(part))?.[1];
    return [
      { at: index, message: `it cannot be loaded: ${message}`, ...(help === undefined ? {} : { help }) },
    ];
  }
}

async function readSchema(
  path: string,
  shown: string,
): Promise<PluginSource['schema'] | readonly PluginFault[]> {
  const shownFile = `${shown}/options.schema.json`;
  let text: string;
  try {
    text = await readFile(join(path, 'options.schema.json'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return [{ at: placeOf(shownFile), message: `the file cannot be read: ${reasonOf(error)}` }];
  }
  const file = new SourceFile(shownFile, text);
  const fault = findJsonFault(text);
  if (fault === undefined) return { file, value: JSON.parse(text) as unknown };
  const at = { file, start: fault.offset, end: Math.min(text.length, fault.offset + 1) };
  return [{ at, message: `the file is not JSON: expected ${fault.expected}` }];
}

function isFaults(value: object): value is readonly PluginFault[] {
  return Array.isArray(value);
}
