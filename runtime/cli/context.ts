import type { Readable } from 'node:stream';
import { printable } from '../core/display-width.js';
import { strayPlugin, UNKNOWN_PLUGIN, type StrayKind } from '../app/container/stray-errors.js';
import { loadSettings, type SettingFlags, type Settings } from '../settings/settings.js';
import type { TerminalStream } from './load/progress.js';

/** The process as the commands see it. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** What a program may read: answers, tables, JSON. */
  readonly stdout: TerminalStream;
  /** What a person reads beside it: progress, errors, hints. */
  readonly stderr: TerminalStream;
  /** For a command that runs until it is stopped: aborted when the process is told to end, which it then does itself. */
  stopSignal(): AbortSignal;
  /** Has errors that nothing caught go to `caught`, and the process end with code 1; undefined where others take them. */
  readonly strayErrors?: (caught: (kind: StrayKind, error: unknown) => void) => void;
}

/** For a command that loads plugins: an uncaught error of a plugin is reported with its name. Any other ends the process. */
export function tellStrayErrors(context: CliContext, { project }: Settings): void {
  context.strayErrors?.((kind, error) => {
    const plugin = strayPlugin(project, kind, error);
    if (plugin === undefined) throw error;
    const message = printable(error instanceof Error ? error.message : String(error));
    const from = plugin === UNKNOWN_PLUGIN ? 'a plugin' : `the plugin ${plugin}`;
    context.stderr.write(`error: ${from} left an error that nothing caught: ${message}\n`);
  });
}

export function settingsOf(context: CliContext, flags: SettingFlags): Settings {
  return loadSettings(context.env, flags);
}

/** How text for a stream is laid out: coloured on a terminal (unless NO_COLOR says no), as wide as the terminal. */
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
