import type { Readable } from 'node:stream';
import { printable } from '../ground/core/display-width.js';
import { strayPlugin, UNKNOWN_PLUGIN, type StrayKind } from '../serve/app/plugins/stray-errors.js';
import { readSettings } from '../project/config/project/read-settings.js';
import type { SettingFlags, Settings } from '../project/settings/settings.js';
import type { TerminalStream } from './load/progress.js';

/** The parts of the process that commands use. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Output for programs: answers, tables, JSON. */
  readonly stdout: TerminalStream;
  /** Additional output for people: progress, errors, hints. */
  readonly stderr: TerminalStream;
  /**
   * For a command that runs until it is stopped: aborted when the process receives a signal. The command then ends by
   * itself.
   */
  stopSignal(): AbortSignal;
  /**
   * Runs `clean` before SIGINT or SIGTERM ends the process, unless something else handles the signal. Undefined if the
   * caller cleans up itself.
   * @returns a function that takes `clean` back
   */
  readonly beforeSignal?: (clean: () => void) => () => void;
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

/**
 * How text for a stream is formatted: in colour on a terminal (unless NO_COLOR is set), and as wide as the terminal.
 */
export function styleOf(
  context: CliContext,
  stream: TerminalStream,
): { readonly color: boolean; readonly width: number } {
  const terminal = stream.isTTY === true;
  return { color: terminal && !context.env.NO_COLOR, width: terminal ? (stream.columns ?? 80) : 80 };
}

export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
