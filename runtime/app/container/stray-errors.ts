import { readdirSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, SHIPPED_PLUGINS } from '../../core/locations.js';

/** How an error came to be caught by nothing: it was thrown by a callback, or a promise was left that rejected. */
export type StrayKind = 'exception' | 'rejection';

/** The label of a plugin that cannot be told from others. */
export const UNKNOWN_PLUGIN = 'unknown';

const RUNTIME = join(COMPILED, 'runtime');

/**
 * The plugin that left an error which nothing caught, by the files in its stack; undefined if it may be Millrace's own.
 *
 * An exception is a plugin's only if one of its files is in the stack. A rejection interrupts nothing, and that of a library
 * call often names no file of the caller: it is a plugin's also if no file of Millrace is in its stack. Millrace throws
 * nothing but errors, so that any other value is a plugin's. Both need a project that has plugins of its own.
 */
export function strayPlugin(project: string, kind: StrayKind, error: unknown): string | undefined {
  const own = pluginFolders(join(resolve(project), 'plugins'));
  const files = error instanceof Error ? filesIn(error.stack ?? '') : [];
  const folders = [...own, ...pluginFolders(SHIPPED_PLUGINS)];
  for (const file of files) {
    const found = folders.find(({ paths }) => paths.some((path) => file.startsWith(path + sep)));
    if (found !== undefined) return found.name;
  }
  if (own.length === 0) return undefined;
  if (!(error instanceof Error)) return UNKNOWN_PLUGIN;
  const isOurs = files.some((file) => file.startsWith(RUNTIME + sep));
  return kind === 'rejection' && !isOurs ? UNKNOWN_PLUGIN : undefined;
}

interface PluginFolder {
  readonly name: string;
  /** As it is named, and where its links lead, which is what a stack shows. */
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

/** The files of a stack's frames, innermost first; the message, which may name files too, is none of them. */
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
