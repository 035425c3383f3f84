import type { Sink, SinkContext, SinkPlugin } from '../../ground/api/ledger.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { PluginServices } from '../../ground/api/services.js';
import { checkOptions, type CheckedOptions } from '../../project/config/project/check-options.js';
import type { SinkDefinition } from '../../project/config/model/sinks.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { didYouMean, nearest } from '../../ground/core/nearest.js';
import { bindOptions } from './bind-options.js';
import { refuseLiteralSecrets } from './literal-secrets.js';
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
  const { name, use, take, format, queueBytes, with: options } = definition;
  const plugin = findSink(definition, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const checked = checkOptions(options, plugin.options, diagnostics, use.at);
  const hasSecrets = refuseLiteralSecrets(options, plugin.options, definition, diagnostics);
  if (checked === undefined || hasSecrets) return undefined;
  const bound = await bindOptions(checked, files, noExpression, diagnostics);
  if (bound === undefined) return undefined;
  const { logger, metrics, now, cache } = ofPlugin(plugin.name, name);
  const context: SinkContext = {
    logger,
    metrics,
    now,
    cache,
    ...services,
    name,
    format,
    warn: (message) => warn(name, message),
  };
  try {
    const sink = plugin.create(bound as never, context);
    if (!isSink(sink, use, diagnostics)) return undefined;
    const versions = checked.marks.map(({ text }) => files.versions.get(text.value));
    const key = JSON.stringify([use.value, take, format, queueBytes, checked.value, versions]);
    return { definition, key, sink };
  } catch (error) {
    const faults: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const fault of faults) reportFault(fault, definition, checked, diagnostics);
    return undefined;
  }
}

/** Reports what `create` returned if it is no sink. */
function isSink(made: unknown, use: SinkDefinition['use'], diagnostics: Diagnostics): boolean {
  const { write } = (typeof made === 'object' && made !== null ? made : {}) as { readonly write?: unknown };
  if (typeof write === 'function') return true;
  const [found, help] =
    made instanceof Promise
      ? ['a promise', 'make the sink at once, and connect in its `write`']
      : ['no object with `write`', 'return the sink from `create`'];
  diagnostics.error(
    'plugin_failed',
    use.at,
    `\`create\` of the sink \`${use.value}\` returned ${found}`,
    help,
  );
  return false;
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

function reportFault(
  fault: unknown,
  { use }: SinkDefinition,
  checked: CheckedOptions,
  diagnostics: Diagnostics,
): void {
  if (fault instanceof OptionError)
    diagnostics.error('invalid_option', checked.locate(fault.path, fault.part), fault.message, fault.help);
  else {
    const reason = fault instanceof Error ? fault.message : String(fault);
    diagnostics.error(
      'component_failed',
      use.at,
      `the sink \`${use.value}\` could not be created: ${reason}`,
    );
  }
}

/** A sink has no values to compute with. */
function noExpression(): never {
  throw new Error('the options of a sink cannot be expressions');
}
