import { readdirSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, SHIPPED_PLUGINS } from '../../../ground/core/locations.js';
import { PACKAGE_FOLDERS } from './load-package.js';

/**
 * Why nothing caught an error: a callback threw it, or nothing awaited the promise that was rejected. `exit`: the error
 * stands for a call of process.exit.
 */
export type StrayKind = 'exception' | 'rejection' | 'exit';

/** The label of a plugin that cannot be identified. */
export const UNKNOWN_PLUGIN = 'unknown';

const RUNTIME = join(COMPILED, 'runtime');

/**
 * Finds the plugin that caused an uncaught error, by the files in its stack; undefined if the error may be Millrace's
 * own.
 *
 * An exception belongs to a plugin only if one of the plugin's files is in the stack. The stack of a rejected library
 * call often lacks the caller, and a rejection interrupts no code. So a rejection also belongs to a plugin if no file
 * of Millrace is in its stack; so does a call of process.exit. Millrace throws only errors, so any other value belongs to a
 * plugin. The last two rules apply only to projects with their own plugins.
 */
export function strayPlugin(project: string, kind: StrayKind, error: unknown): string | undefined {
  const packages = Array.from(PACKAGE_FOLDERS, ([path, name]) => ({ name, paths: [path] }));
  const own = [...pluginFolders(join(resolve(project), 'plugins')), ...packages];
  const files = error instanceof Error ? filesIn(error.stack ?? '') : [];
  const folders = [...own, ...pluginFolders(SHIPPED_PLUGINS)];
  for (const file of files) {
    const found = folders.find(({ paths }) => paths.some((path) => file.startsWith(path + sep)));
    if (found !== undefined) return found.name;
  }
  if (own.length === 0) return undefined;
  if (!(error instanceof Error)) return UNKNOWN_PLUGIN;
  const isOurs = files.some((file) => file.startsWith(RUNTIME + sep));
  return kind !== 'exception' && !isOurs ? UNKNOWN_PLUGIN : undefined;
}

interface PluginFolder {
  readonly name: string;
  /** The path, and its target if it is a link: a stack shows the target. */
  readonly paths: readonly string[];
}

function pluginFolders(parent: string): PluginFolder[] {
  let names: string[];
  try {
    names = readdirSync(parent);
  } catch {
    return [];
  }
  return names.map((name) => {
    const path = join(parent, name);
    try {
      return { name, paths: [path, realpathSync(path)] };
    } catch {
      return { name, paths: [path] };
    }
  });
}

/** The files of a stack's frames, innermost first. Files in the message do not count. */
function filesIn(stack: string): string[] {
  return stack.split('\n').flatMap((line) => {
    const [, place] = /^\s+at (?:.*\()?(.+?):\d+:\d+\)?$/.exec(line) ?? [];
    if (place === undefined) return [];
    if (!place.startsWith('file:')) return [place.replace(/^async /, '')];
    try {
      return [fileURLToPath(place)];
    } catch {
      return [];
    }
  });
}
