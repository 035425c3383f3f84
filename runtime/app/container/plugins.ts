import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { container as rootContainer } from 'tsyringe';
import type { SinkPlugin } from '../../api/ledger.js';
import { pluginToken } from '../../api/tokens.js';
import { NAME_PATTERN } from '../../api/types.js';
import type { PluginRegistry } from '../../compile/step-tools.js';
import type { Diagnostics } from '../../config/diagnostics/diagnostics.js';
import type { LinkedFolders } from '../../settings/linked-folders.js';
import { nameHelp } from '../../config/project/marks.js';
import { placeOf, reasonOf } from '../../config/project/project-files.js';
import { SourceFile, type Span } from '../../config/yaml/source.js';
import { PACKAGE, SHIPPED_PLUGINS } from '../../core/locations.js';
import { findJsonFault } from '../../core/json-fault.js';
import { resolveApiToThisCopy } from './api-module.js';
import { checkPlugin, type Declared, type PluginFault, type PluginSource } from './check-plugin.js';
import { compiledFolders, type PluginFolder } from './compiled-folders.js';

/** Parts of Node's messages for modules that it cannot load before 20.19, each with the remedy. */
const OLD_NODE: readonly (readonly [string, string])[] = [
  [
    'import statement outside a module',
    'add a package.json to the project: { "type": "module", "private": true }',
  ],
  ['require() of ES Module', 'write `import` instead of `require`, or run Node 20.19 or later'],
];

/**
 * Registers the shipped plugins and those of the project's `plugins/` folder, and reports their errors.
 * @param linked folders that links of the project may point to
 */
export async function registerPlugins(
  project: string,
  linked: LinkedFolders,
  diagnostics: Diagnostics,
): Promise<PluginRegistry> {
  const container = rootContainer.createChildContainer();
  const sinks = new Map<string, SinkPlugin>();
  const places = new Map<string, Span>();
  for (const folder of await pluginFolders(project, diagnostics)) {
    const loaded = (await refusal(folder, project, linked)) ?? (await loadPlugin(folder));
    if (isFaults(loaded)) {
      for (const { at, message, help } of loaded) diagnostics.error('plugin_failed', at, message, help);
      continue;
    }
    const { name } = loaded.plugin;
    if (places.has(name) || sinks.has(name)) {
      diagnostics.error(
        'plugin_failed',
        placeOf(folder.shown),
        `Millrace ships a plugin called \`${name}\``,
        'give the folder and the plugin another name',
      );
    } else if (loaded.surface === 'sink') sinks.set(name, loaded.plugin);
    else {
      places.set(name, placeOf(`${folder.shown}/index.js`));
      container.register(pluginToken(name), { useValue: loaded.plugin });
    }
  }
  return {
    names: () => places.keys(),
    get: (name) => (places.has(name) ? container.resolve(pluginToken(name)) : undefined),
    place: (name) => places.get(name),
    sinks,
  };
}

async function pluginFolders(project: string, diagnostics: Diagnostics): Promise<PluginFolder[]> {
  const shipped = await foldersIn(SHIPPED_PLUGINS);
  const own = await foldersIn(join(resolve(project), 'plugins'));
  // Millrace's own folder also contains the sources of the shipped plugins.
  const sources = join(PACKAGE, 'plugins');
  const shippedNames = new Set(shipped.map(({ path }) => basename(path)));
  const isSource = ({ path }: PluginFolder): boolean =>
    dirname(path) === sources && shippedNames.has(basename(path));
  const added = own.filter((folder) => !isSource(folder));
  if (added.length > 0) resolveApiToThisCopy();
  return [...shipped, ...(await compiledFolders(added, shippedNames, diagnostics))];
}

async function foldersIn(parent: string): Promise<PluginFolder[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const folders = entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => ({ path: join(parent, name), shown: `plugins/${name}` }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const isPlugin = await Promise.all(folders.map(({ path }) => mayBePlugin(path)));
  return folders.filter((_, index) => isPlugin[index]);
}

/** Ignores folders without a plugin if their name is not valid for a plugin: node_modules, .git and similar. */
async function mayBePlugin(path: string): Promise<boolean> {
  if (await isFile(path)) return false; // a link to a file
  return NAME_PATTERN.test(basename(path)) || (await isFile(join(path, 'index.js')));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Returns why a plugin may not be loaded if its folder, or one of its files, is a link. */
async function refusal(
  { path, shown }: PluginFolder,
  project: string,
  linked: LinkedFolders,
): Promise<readonly PluginFault[] | undefined> {
  if (dirname(path) === SHIPPED_PLUGINS) return undefined;
  for (const one of [shown, `${shown}/index.js`]) {
    const followed = await linked.follow(project, one).catch(() => undefined);
    if (typeof followed === 'object') return [{ at: placeOf(one), ...followed }];
  }
  return undefined;
}

async function loadPlugin({ path, shown }: PluginFolder): Promise<Declared | readonly PluginFault[]> {
  const file = join(path, 'index.js');
  const name = basename(path);
  if (!NAME_PATTERN.test(name))
    return [
      { at: placeOf(shown), message: `\`${name}\` cannot be the name of a plugin`, help: nameHelp(name) },
    ];
  // The schema is checked before the module is loaded. The module reads it too, but its errors are less precise.
  const schema = await readSchema(path, shown);
  if (schema !== undefined && isFaults(schema)) return schema;
  const index = placeOf(`${shown}/index.js`);
  const source: PluginSource = { name, index, schema, isShipped: dirname(path) === SHIPPED_PLUGINS };
  try {
    return checkPlugin((await import(pathToFileURL(file).href)) as Record<string, unknown>, source);
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

/** If a module is not found, Node adds a line for each module that imports it. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}

function isFaults(value: object): value is readonly PluginFault[] {
  return Array.isArray(value);
}
