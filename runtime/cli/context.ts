import type { Readable } from 'node:stream';
import { loadSettings, type SettingFlags, type Settings } from '../settings.js';
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
