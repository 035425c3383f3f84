import type { Readable } from 'node:stream';
import type { TerminalStream } from './progress.js';

/** The parts of the process that a command uses, and that what it calls may use too. */
export interface Console {
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
   * Throws once the work is to stop. Work that takes long calls it now and then. Undefined where a signal ends the process.
   */
  readonly checkStopped?: () => void;
  /**
   * Runs `clean` before SIGINT or SIGTERM ends the process, unless something else handles the signal. Undefined if the
   * caller cleans up itself.
   * @returns a function that takes `clean` back
   */
  readonly beforeSignal?: (clean: () => void) => () => void;
}

/**
 * How text for a stream is formatted: in colour on a terminal (unless NO_COLOR is set), and as wide as the terminal.
 */
export function styleOf(
  { env }: Pick<Console, 'env'>,
  stream: TerminalStream,
): { readonly color: boolean; readonly width: number } {
  const terminal = stream.isTTY === true;
  return { color: terminal && !env['NO_COLOR'], width: terminal ? (stream.columns ?? 80) : 80 };
}
