import type { Plugin } from '../../../ground/api/plugin.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { Diagnostics, type Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { loadPackages } from '../../../project/config/project/load-packages.js';
import type { Settings } from '../../../project/settings/settings.js';
import { version as millraceVersion } from '../../../project/settings/version.js';
import { takes } from './option-words.js';
import { registerPlugins, type RegisteredPlugin } from './register-plugins.js';

/** An option, for people. The JSON Schema of all options has the rest. */
export interface ListedOption {
  readonly name: string;
  readonly takes: string;
  readonly required: boolean;
  readonly default?: JsonValue;
  readonly description?: string;
}

/** A plugin of a project. */
export interface ListedPlugin {
  readonly name: string;
  readonly kind: string;
  /** `millrace`, `project`, or the name of a package. */
  readonly from: string;
  /** Of the package; undefined for a plugin of the project. */
  readonly version?: string;
  /** The range of versions of the plugin API that a package declares. */
  readonly api?: string;
  readonly summary: string;
  readonly options: readonly ListedOption[];
}

/** Loads the plugins of a project. Its pipelines may have errors. */
export async function listPlugins({
  project,
  linkedFolders: linked,
}: Pick<Settings, 'project' | 'linkedFolders'>): Promise<{
  readonly plugins: readonly ListedPlugin[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const diagnostics = new Diagnostics();
  const packages = await loadPackages(project, process.env, diagnostics);
  const { all } = await registerPlugins(project, { linked, packages }, diagnostics);
  return { plugins: all.map(listed), diagnostics: diagnostics.all };
}

function listed({ surface, plugin, origin }: RegisteredPlugin): ListedPlugin {
  const { name, summary } = plugin;
  const kind = surface === 'component' ? (plugin as Plugin).kind : surface;
  const options = 'options' in plugin ? optionsOf(plugin.options) : [];
  if (origin.kind === 'package')
    return { name, kind, from: origin.name, version: origin.version, api: origin.api, summary, options };
  const version = origin.kind === 'millrace' ? { version: millraceVersion } : {};
  return { name, kind, from: origin.kind, ...version, summary, options };
}

function optionsOf({ properties, required }: JsonObject): ListedOption[] {
  const needed = new Set(Array.isArray(required) ? (required as readonly JsonValue[]) : []);
  return Object.entries((properties ?? {}) as JsonObject).map(([name, schema]): ListedOption => {
    const option = schema as JsonObject;
    return {
      name,
      takes: takes(option),
      required: needed.has(name),
      ...(option.default === undefined ? {} : { default: option.default }),
      ...(typeof option.description === 'string' ? { description: option.description } : {}),
    };
  });
}
