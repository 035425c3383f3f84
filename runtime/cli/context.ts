import type { Console } from '../ground/core/console.js';
import { printable } from '../ground/core/display-width.js';
import { strayPlugin, UNKNOWN_PLUGIN, type StrayKind } from '../serve/app/plugins/stray-errors.js';
import { readSettings } from '../project/config/project/read-settings.js';
import type { SettingFlags, Settings } from '../project/settings/settings.js';

/** The parts of the process that commands use. */
export interface CliContext extends Console {
  /**
   * Passes uncaught errors and calls of process.exit to `caught`, and makes the process end with another code than 0.
   * `caught` returns false for what is not of a plugin. Undefined if the caller handles them itself.
   */
  readonly strayErrors?: (caught: (kind: StrayKind, error: unknown) => boolean) => void;
}

/**
 * For commands that load plugins: reports an uncaught error of a plugin with the plugin's name. Any other uncaught
 * error ends the process.
 */
export function tellStrayErrors(context: CliContext, { project }: Settings): void {
  context.strayErrors?.((kind, error) => {
    const plugin = strayPlugin(project, kind, error);
    if (plugin === undefined) return false;
    const message = printable(error instanceof Error ? error.message : String(error));
    const from = plugin === UNKNOWN_PLUGIN ? 'a plugin' : `the plugin ${plugin}`;
    const what = kind === 'exit' ? 'ended the command' : 'did not handle an error';
    context.stderr.write(`error: ${from} ${what}: ${message}\n`);
    return true;
  });
}

/** Reads the settings from the flags, the environment and millrace.yaml. @throws MillraceError invalid_setting */
export function settingsOf(context: CliContext, flags: SettingFlags): Promise<Settings> {
  return readSettings(context.env, flags);
}

export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
