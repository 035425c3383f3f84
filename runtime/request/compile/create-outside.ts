import type { Node } from 'yaml';
import { OptionError } from '../../ground/api/option-error.js';
import type { PluginServices } from '../../ground/api/services.js';
import type { JsonObject } from '../../ground/api/types.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { checkOptions, type CheckedOptions } from '../../project/config/project/check-options.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located, SourceFile } from '../../project/config/yaml/source.js';
import { bindOptions } from './bind-options.js';
import { refuseLiteralSecrets } from './literal-secrets.js';
import type { OptionFiles } from './option-files.js';
import type { PluginRegistry } from './step-tools.js';

/** What a file of a sink, a source, a view or a project says of a plugin. */
export interface OutsideUse {
  readonly name: string;
  readonly use: Located<string>;
  readonly with: Node | undefined;
  readonly file: SourceFile;
}

/** A sink, a source or a reader that was made. */
export interface Created<T> {
  readonly made: T;
  /** Its options with the values of variables, and the versions of the files that they name. */
  readonly key: readonly unknown[];
}

/** A plugin that is no step: its options have no expressions. */
interface OutsidePlugin<T> {
  readonly what: 'sink' | 'source' | 'reader' | 'service';
  readonly options: JsonObject;
  readonly create: (options: never) => T;
  /** What the value that `create` returns must have. The first one connects. */
  readonly methods: readonly string[];
}

/** The services of a plugin that is no step: it cannot read the store. */
export function withoutStore({
  logger,
  metrics,
  now,
  cache,
  service,
}: PluginServices): Omit<PluginServices, 'store'> {
  return { logger, metrics, now, cache, service };
}

/** What else a name can be that is no plugin of the wanted kind. */
const OTHERS: readonly (readonly [words: string, has: (plugins: PluginRegistry, name: string) => boolean])[] =
  [
    ['a component of pipelines', (plugins, name) => plugins.get(name) !== undefined],
    ['a sink for records', ({ sinks }, name) => sinks.has(name)],
    ['a source of messages', ({ sources }, name) => sources.has(name)],
    ['a reader of views', ({ readers }, name) => readers.has(name)],
  ];

/**
 * Finds the plugin that a file names. An unknown one is reported.
 * @param known all of the wanted kind, by name
 */
export function findOutside<P>(
  what: 'sink' | 'source' | 'reader',
  { value: name, at }: Located<string>,
  known: ReadonlyMap<string, P>,
  plugins: PluginRegistry,
  diagnostics: Diagnostics,
): P | undefined {
  const found = known.get(name);
  if (found !== undefined) return found;
  const list = `the ${what}s are ${[...known.keys()].join(', ')}`;
  const other = OTHERS.find(([, has]) => has(plugins, name))?.[0];
  if (other !== undefined)
    diagnostics.error('unknown_plugin', at, `\`${name}\` is ${other}, not a ${what}`, list);
  else {
    const help = didYouMean(name, known.keys()) ?? list;
    diagnostics.error('unknown_plugin', at, `there is no ${what} \`${name}\``, help);
  }
  return undefined;
}

/**
 * Checks the options of a plugin and calls its `create`.
 * @returns undefined if there were errors; they are in `diagnostics`
 */
export async function createOutside<T>(
  definition: OutsideUse,
  plugin: OutsidePlugin<T>,
  files: OptionFiles,
  diagnostics: Diagnostics,
): Promise<Created<T> | undefined> {
  const { use, with: options } = definition;
  const { what } = plugin;
  const checked = checkOptions(options, plugin.options, diagnostics, use.at);
  const hasSecrets = refuseLiteralSecrets(options, plugin.options, definition, diagnostics);
  if (checked === undefined || hasSecrets) return undefined;
  const noExpression = (): never => {
    throw new Error(`the options of a ${what} cannot be expressions`);
  };
  const bound = await bindOptions(checked, files, noExpression, diagnostics);
  if (bound === undefined) return undefined;
  try {
    const made = plugin.create(bound as never);
    const [first] = plugin.methods;
    if (first === undefined || hasMethods(made, plugin.methods)) {
      const versions = checked.marks.map(({ text }) => files.versions.get(text.value));
      return { made, key: [use.value, checked.value, versions] };
    }
    const quoted = plugin.methods.map((method) => `\`${method}\``);
    const returned = made instanceof Promise ? 'a promise' : `no object with ${quoted.join(', ')}`;
    const message = `\`create\` of the ${what} \`${use.value}\` returned ${returned}`;
    const help = `make the ${what} at once, and connect in its \`${first}\``;
    diagnostics.error('plugin_failed', use.at, message, help);
  } catch (error) {
    const faults: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const fault of faults) reportFault(fault, `the ${what} \`${use.value}\``, use, checked, diagnostics);
  }
  return undefined;
}

function reportFault(
  fault: unknown,
  what: string,
  use: Located<string>,
  checked: CheckedOptions,
  diagnostics: Diagnostics,
): void {
  if (fault instanceof OptionError) {
    diagnostics.error('invalid_option', checked.locate(fault.path, fault.part), fault.message, fault.help);
    return;
  }
  const reason = fault instanceof Error ? fault.message : String(fault);
  diagnostics.error('component_failed', use.at, `${what} could not be created: ${reason}`);
}

function hasMethods(made: unknown, methods: readonly string[]): boolean {
  if (typeof made !== 'object' || made === null) return false;
  return methods.every((method) => typeof (made as Readonly<Record<string, unknown>>)[method] === 'function');
}
