import type { Source, SourceContext, SourcePlugin } from '../../ground/api/source.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { PluginServices } from '../../ground/api/services.js';
import { checkOptions } from '../../project/config/project/check-options.js';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { nearest } from '../../ground/core/nearest.js';
import { bindOptions } from './bind-options.js';
import { refuseLiteralSecrets } from './literal-secrets.js';
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
  const { name, use, rejected, with: options } = definition;
  const plugin = findSource(definition, plugins, diagnostics);
  if (plugin === undefined) return undefined;
  const checked = checkOptions(options, plugin.options, diagnostics, use.at);
  const hasSecrets = refuseLiteralSecrets(options, plugin.options, definition, diagnostics);
  if (checked === undefined || hasSecrets) return undefined;
  const bound = await bindOptions(checked, files, noExpression, diagnostics);
  if (bound === undefined) return undefined;
  const { logger, metrics, now, cache } = ofPlugin(plugin.name);
  const context: SourceContext = { logger, metrics, now, cache, name, rejected, consumer, findPackage };
  try {
    const source: unknown = plugin.create(bound as never, context);
    if (!isSource(source)) {
      diagnostics.error(
        'plugin_failed',
        use.at,
        `\`create\` of the source \`${use.value}\` returned no object with \`open\`, \`read\` and \`settle\``,
        'make the source at once, and connect in its `open`',
      );
      return undefined;
    }
    const { into, merge, map, event, values, where, positionsFrom, about } = definition;
    const versions = checked.marks.map(({ text }) => files.versions.get(text.value));
    const mapped = [into, merge, map, event, values, where, positionsFrom, about];
    return {
      definition,
      source,
      key: JSON.stringify([use.value, mapped, rejected, checked.value, versions]),
    };
  } catch (error) {
    const faults: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const fault of faults)
      if (fault instanceof OptionError)
        diagnostics.error(
          'invalid_option',
          checked.locate(fault.path, fault.part),
          fault.message,
          fault.help,
        );
      else {
        const reason = fault instanceof Error ? fault.message : String(fault);
        diagnostics.error(
          'component_failed',
          use.at,
          `the source \`${use.value}\` could not be created: ${reason}`,
        );
      }
    return undefined;
  }
}

function isSource(made: unknown): made is Source {
  if (typeof made !== 'object' || made === null) return false;
  const { open, read, settle } = made as Readonly<Record<string, unknown>>;
  return [open, read, settle].every((method) => typeof method === 'function');
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

/** A source has no values to compute with. */
function noExpression(): never {
  throw new Error('the options of a source cannot be expressions');
}
