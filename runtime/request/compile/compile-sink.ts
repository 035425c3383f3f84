import type { Sink, SinkContext } from '../../ground/api/ledger.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { SinkDefinition } from '../../project/config/model/sinks.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { createOutside, findOutside, withoutStore } from './create-outside.js';
import type { OptionFiles } from './option-files.js';
import type { PluginRegistry } from './step-tools.js';

/** A sink that was made from its file. It has not connected. */
export interface CompiledSink {
  readonly definition: SinkDefinition;
  /** Everything that the file says, with the values of variables. Two equal keys are the same sink. */
  readonly key: string;
  readonly sink: Sink;
}

/** What a sink may use of the process. */
export type SinkServices = Omit<SinkContext, 'name' | 'format' | 'warn' | keyof PluginServices> & {
  /** The files that options name. */
  readonly files: OptionFiles;
  readonly warn: (sink: string, message: string) => void;
  /** The services of the plugin of a sink, by its name. */
  readonly ofPlugin: (plugin: string, sink: string) => PluginServices;
};

/** Makes a sink. @returns undefined if there were errors; they are in `diagnostics` */
export async function compileSink(
  definition: SinkDefinition,
  plugins: PluginRegistry,
  { warn, files, ofPlugin, ...services }: SinkServices,
  diagnostics: Diagnostics,
): Promise<CompiledSink | undefined> {
  const { name, take, format, queueBytes } = definition;
  const plugin = findOutside('sink', definition.use, plugins.sinks, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const context: SinkContext = {
    ...withoutStore(ofPlugin(plugin.name, name)),
    ...services,
    name,
    format,
    warn: (message) => warn(name, message),
  };
  const create = (bound: never): Sink => plugin.create(bound, context);
  const own = { what: 'sink', options: plugin.options, create, methods: ['write'] } as const;
  const created = await createOutside(definition, own, files, diagnostics);
  if (created === undefined) return undefined;
  const key = JSON.stringify([take, format, queueBytes, ...created.key]);
  return { definition, key, sink: created.made };
}
