import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { container as rootContainer } from 'tsyringe';
import { MillraceError } from '../api/errors.js';
import type { Plugin } from '../api/plugin.js';
import { pluginToken } from '../api/tokens.js';
import { NAME_PATTERN } from '../api/types.js';
import type { PluginRegistry } from '../compile/step-compiler.js';

/** The plugins that ship with Millrace, beside the compiled runtime. */
const SHIPPED = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'plugins');

const KINDS: ReadonlySet<string> = new Set(['feature', 'filter', 'model', 'rule', 'effect']);

/**
 * Registers the shipped plugins and those of the project's `plugins/` folder.
 * @throws MillraceError project_invalid that names the plugin's folder and what is wrong with it.
 */
export async function registerPlugins(project: string): Promise<PluginRegistry> {
  const container = rootContainer.createChildContainer();
  const names = new Set<string>();
  for (const folder of await pluginFolders(SHIPPED, project)) {
    const plugin = await loadPlugin(folder);
    if (names.has(plugin.name)) throw invalid(folder, `a plugin called ${plugin.name} is there already`);
    names.add(plugin.name);
    container.register(pluginToken(plugin.name), { useValue: plugin });
  }
  return {
    names: () => names,
    get: (name) => (names.has(name) ? container.resolve(pluginToken(name)) : undefined),
  };
}

async function pluginFolders(shipped: string, project: string): Promise<string[]> {
  const folders = await foldersIn(shipped);
  const own = await foldersIn(join(resolve(project), 'plugins'));
  // In Millrace's own folder the sources of the shipped plugins stand beside what was compiled from them.
  const sources = join(dirname(dirname(shipped)), 'plugins');
  const shippedNames = new Set(folders.map((folder) => basename(folder)));
  const isSource = (folder: string): boolean =>
    dirname(folder) === sources && shippedNames.has(basename(folder));
  return [...folders, ...own.filter((folder) => !isSource(folder))];
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
  if (!(await stat(file).catch(() => undefined))?.isFile()) {
    throw invalid(folder, 'there is no index.js; a plugin written in TypeScript has to be compiled first');
  }
  const { plugin } = await importPlugin(file);
  if (plugin === undefined) throw invalid(file, 'it exports no `plugin`');
  if (plugin.name !== basename(folder)) {
    throw invalid(file, `the plugin calls itself ${String(plugin.name)}, and its folder ${basename(folder)}`);
  }
  if (
    typeof plugin.create !== 'function' ||
    typeof plugin.options !== 'object' ||
    !KINDS.has(String(plugin.kind))
  ) {
    throw invalid(file, 'a plugin has name, kind, summary, options and create; make it with definePlugin');
  }
  return plugin as Plugin;
}

async function importPlugin(file: string): Promise<{ readonly plugin?: Partial<Plugin> }> {
  try {
    return (await import(pathToFileURL(file).href)) as { readonly plugin?: Partial<Plugin> };
  } catch (error) {
    throw invalid(
      file,
      `it cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function invalid(place: string, what: string, cause?: unknown): MillraceError {
  return new MillraceError('project_invalid', `${place}: ${what}`, { cause });
}
