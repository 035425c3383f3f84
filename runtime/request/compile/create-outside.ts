import type { Node } from 'yaml';
import { OptionError } from '../../ground/api/option-error.js';
import type { JsonObject } from '../../ground/api/types.js';
import { checkOptions, type CheckedOptions } from '../../project/config/project/check-options.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located, SourceFile } from '../../project/config/yaml/source.js';
import { bindOptions } from './bind-options.js';
import { refuseLiteralSecrets } from './literal-secrets.js';
import type { OptionFiles } from './option-files.js';

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
  /** What is wrong with the value that `create` returned, and how to repair it. */
  readonly fault: (made: unknown) => readonly [message: string, help: string] | undefined;
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
    const fault = plugin.fault(made);
    if (fault === undefined) {
      const versions = checked.marks.map(({ text }) => files.versions.get(text.value));
      return { made, key: [use.value, checked.value, versions] };
    }
    const message = `\`create\` of the ${what} \`${use.value}\` returned ${fault[0]}`;
    diagnostics.error('plugin_failed', use.at, message, fault[1]);
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

/** Whether a value has all of these methods. */
export function hasMethods(made: unknown, methods: readonly string[]): boolean {
  if (typeof made !== 'object' || made === null) return false;
  return methods.every((method) => typeof (made as Readonly<Record<string, unknown>>)[method] === 'function');
}
