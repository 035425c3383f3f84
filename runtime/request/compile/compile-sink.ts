import type { Sink, SinkContext, SinkPlugin } from '../../ground/api/ledger.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { SinkDefinition } from '../../project/config/model/sinks.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { didYouMean, nearest } from '../../ground/core/nearest.js';
import { createOutside, hasMethods } from './create-outside.js';
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
  const plugin = findSink(definition, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const { logger, metrics, now, cache, service } = ofPlugin(plugin.name, name);
  const context: SinkContext = {
    logger,
    metrics,
    now,
    cache,
    service,
    ...services,
    name,
    format,
    warn: (message) => warn(name, message),
  };
  const create = (bound: never): Sink => plugin.create(bound, context);
  const own = { what: 'sink', options: plugin.options, create, fault: faultOf } as const;
  const created = await createOutside(definition, own, files, diagnostics);
  if (created === undefined) return undefined;
  const key = JSON.stringify([take, format, queueBytes, ...created.key]);
  return { definition, key, sink: created.made };
}

/** What is wrong with a value that is no sink. */
function faultOf(made: unknown): readonly [string, string] | undefined {
  if (hasMethods(made, ['write'])) return undefined;
  return made instanceof Promise
    ? ['a promise', 'make the sink at once, and connect in its `write`']
    : ['no object with `write`', 'return the sink from `create`'];
}

function findSink(
  { use }: SinkDefinition,
  plugins: PluginRegistry,
  diagnostics: Diagnostics,
): SinkPlugin | undefined {
  const { sinks } = plugins;
  const plugin = sinks.get(use.value);
  if (plugin !== undefined) return plugin;
  const list = `the sinks are ${[...sinks.keys()].join(', ')}`;
  if (plugins.get(use.value) !== undefined)
    diagnostics.error(
      'unknown_plugin',
      use.at,
      `\`${use.value}\` is a component of pipelines, not a sink`,
      list,
    );
  else
    diagnostics.error(
      'unknown_plugin',
      use.at,
      `there is no sink \`${use.value}\``,
      didYouMean(use.value, sinks.keys()) ??
        (nearest(use.value, plugins.names()) === undefined
          ? list
          : `${list}; components of pipelines have no records`),
    );
  return undefined;
}
