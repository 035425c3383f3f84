import type { Source, SourceContext, SourcePlugin } from '../../ground/api/source.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { nearest } from '../../ground/core/nearest.js';
import { createOutside, hasMethods } from './create-outside.js';
import type { OptionFiles } from './option-files.js';
import type { PluginRegistry } from './step-tools.js';

/** A source whose file has no errors. */
export interface CompiledSource {
  readonly definition: SourceDefinition;
  /** Everything that the file says, with the values of variables. Two equal keys are the same source. */
  readonly key: string;
  /** It has not connected. */
  readonly source: Source;
}

/** What a source may use of the process. */
export interface SourceServices extends Pick<SourceContext, 'consumer' | 'findPackage'> {
  /** The files that options name. */
  readonly files: OptionFiles;
  /** The services of the plugin of a source, by its name. */
  readonly ofPlugin: (plugin: string) => PluginServices;
}

/** Makes a source from its file. @returns undefined if there were errors; they are in `diagnostics` */
export async function compileSource(
  definition: SourceDefinition,
  plugins: PluginRegistry,
  { files, ofPlugin, consumer, findPackage }: SourceServices,
  diagnostics: Diagnostics,
): Promise<CompiledSource | undefined> {
  const { name, rejected } = definition;
  const plugin = findSource(definition, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const { logger, metrics, now, cache, service } = ofPlugin(plugin.name);
  const context: SourceContext = {
    logger,
    metrics,
    now,
    cache,
    service,
    name,
    rejected,
    consumer,
    findPackage,
  };
  const create = (bound: never): Source => plugin.create(bound, context);
  const own = { what: 'source', options: plugin.options, create, fault: faultOf } as const;
  const created = await createOutside(definition, own, files, diagnostics);
  if (created === undefined) return undefined;
  const { into, merge, map, event, values, where, positionsFrom, about } = definition;
  const mapped = [into, merge, map, event, values, where, positionsFrom, about];
  return { definition, source: created.made, key: JSON.stringify([mapped, rejected, ...created.key]) };
}

/** What is wrong with a value that is no source. */
function faultOf(made: unknown): readonly [string, string] | undefined {
  if (hasMethods(made, ['open', 'read', 'settle'])) return undefined;
  return ['no object with `open`, `read` and `settle`', 'make the source at once, and connect in its `open`'];
}

function findSource(
  { use }: SourceDefinition,
  plugins: PluginRegistry,
  diagnostics: Diagnostics,
): SourcePlugin | undefined {
  const { sources } = plugins;
  const plugin = sources.get(use.value);
  if (plugin !== undefined) return plugin;
  const list = `the sources are ${[...sources.keys()].join(', ')}`;
  const guess = nearest(use.value, sources.keys());
  const other = plugins.sinks.has(use.value)
    ? 'a sink for records'
    : plugins.get(use.value) === undefined
      ? undefined
      : 'a component of pipelines';
  diagnostics.error(
    'unknown_plugin',
    use.at,
    other === undefined
      ? `there is no source \`${use.value}\``
      : `\`${use.value}\` is ${other}, not a source`,
    other !== undefined || guess === undefined ? list : `did you mean \`${guess}\`?`,
  );
  return undefined;
}
