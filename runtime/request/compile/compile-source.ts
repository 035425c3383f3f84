import type { Source, SourceContext } from '../../ground/api/source.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { createOutside, findOutside, withoutStore } from './create-outside.js';
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

const METHODS = ['open', 'read', 'settle'] as const;

/** Makes a source from its file. @returns undefined if there were errors; they are in `diagnostics` */
export async function compileSource(
  definition: SourceDefinition,
  plugins: PluginRegistry,
  { files, ofPlugin, consumer, findPackage }: SourceServices,
  diagnostics: Diagnostics,
): Promise<CompiledSource | undefined> {
  const { name, rejected } = definition;
  const plugin = findOutside('source', definition.use, plugins.sources, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const services = withoutStore(ofPlugin(plugin.name));
  const context: SourceContext = { ...services, name, rejected, consumer, findPackage };
  const create = (bound: never): Source => plugin.create(bound, context);
  const own = { what: 'source', options: plugin.options, create, methods: METHODS } as const;
  const created = await createOutside(definition, own, files, diagnostics);
  if (created === undefined) return undefined;
  const { into, merge, map, event, values, where, positionsFrom, about } = definition;
  const mapped = [into, merge, map, event, values, where, positionsFrom, about];
  return { definition, source: created.made, key: JSON.stringify([mapped, rejected, ...created.key]) };
}
