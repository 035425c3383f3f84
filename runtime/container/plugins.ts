import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { container as rootContainer } from 'tsyringe';
import type { Plugin } from '../api/plugin.js';
import { pluginToken } from '../api/tokens.js';
import { NAME_PATTERN } from '../api/types.js';
import type { PluginRegistry } from '../compile/step-compiler.js';
import type { Diagnostics } from '../config/diagnostics.js';
import { placeOf } from '../config/project-files.js';
import { compiledFolders } from './compiled-folders.js';

/** The plugins that ship with Millrace, beside the compiled runtime. */
const SHIPPED = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'plugins');

/** Millrace's own folder. */
const HOME = dirname(dirname(SHIPPED));

const KINDS: ReadonlySet<string> = new Set(['feature', 'filter', 'model', 'rule', 'effect']);

/** Registers the shipped plugins and those of the project's `plugins/` folder. What is wrong with one is told. */
export async function registerPlugins(project: string, diagnostics: Diagnostics): Promise<PluginRegistry> {
  const container = rootContainer.createChildContainer();
  const names = new Set<string>();
  for (const folder of await pluginFolders(SHIPPED, project, diagnostics)) {
    try {
      const plugin = await loadPlugin(folder);
      if (names.has(plugin.name)) throw new Fault(folder, `a plugin called ${plugin.name} is there already`);
      names.add(plugin.name);
      container.register(pluginToken(plugin.name), { useValue: plugin });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const place = relative(project, error.place).replaceAll(sep, '/');
      diagnostics.error('plugin_failed', placeOf(place), error.message, error.help);
    }
  }
  return {
    names: () => names,
    get: (name) => (names.has(name) ? container.resolve(pluginToken(name)) : undefined),
  };
}

async function pluginFolders(shipped: string, project: string, diagnostics: Diagnostics): Promise<string[]> {
  const folders = await foldersIn(shipped);
  const own = await foldersIn(join(resolve(project), 'plugins'));
  // In Millrace's own folder the sources of the shipped plugins stand beside what was compiled from them.
  const sources = join(HOME, 'plugins');
  const shippedNames = new Set(folders.map((folder) => basename(folder)));
  const isSource = (folder: string): boolean =>
    dirname(folder) === sources && shippedNames.has(basename(folder));
  const added = own.filter((folder) => !isSource(folder));
  return [...folders, ...(await compiledFolders(added, shippedNames, diagnostics))];
}

async function foldersIn(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && NAME_PATTERN.test(entry.name))
    .map((entry) => join(parent, entry.name))
    .sort();
}

async function loadPlugin(folder: string): Promise<Plugin> {
  const file = join(folder, 'index.js');
  const { plugin } = await importPlugin(file);
  if (plugin === undefined) throw new Fault(file, 'it exports no `plugin`');
  if (plugin.name !== basename(folder)) {
    throw new Fault(
      file,
      `the plugin calls itself ${String(plugin.name)}, and its folder ${basename(folder)}`,
    );
  }
  if (
    typeof plugin.create !== 'function' ||
    typeof plugin.options !== 'object' ||
    !KINDS.has(String(plugin.kind))
  ) {
    throw new Fault(
      file,
      'a plugin has name, kind, summary, options and create',
      'make it with definePlugin',
    );
  }
  return plugin as Plugin;
}

async function importPlugin(file: string): Promise<{ readonly plugin?: Partial<Plugin> }> {
  try {
    return (await import(pathToFileURL(file).href)) as { readonly plugin?: Partial<Plugin> };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const help = message.includes("package 'millrace'")
      ? `let Node find it from the project's folder: npm install ${HOME}`
      : undefined;
    throw new Fault(file, `it cannot be loaded: ${message}`, help);
  }
}

/** What is wrong with a plugin, and which file or folder of it. */
class Fault extends Error {
  constructor(
    readonly place: string,
    message: string,
    readonly help?: string,
  ) {
    super(message);
  }
}
