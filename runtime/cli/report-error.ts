import { CommanderError } from 'commander';
import { ERROR_CODES } from '../ground/api/error-codes.js';
import { MillraceError } from '../ground/api/errors.js';
import { printable } from '../ground/core/display-width.js';
import { DiagnosticsError } from '../project/config/diagnostics/diagnostics-error.js';
import { renderDiagnostics } from '../project/config/diagnostics/render.js';
import { wrapAfter } from '../ground/core/wrap.js';
import { WorkerFailedError } from '../serve/app/workers/worker-failed.js';
import { styleOf } from '../ground/core/console.js';
import type { CliContext } from './context.js';
import { CommandFailure, DiagnosedUsageError, UsageError } from '../project/config/diagnostics/failure.js';
import { ObjectError } from '../ground/core/object-error.js';
import { fileProblem, isFileProblem } from '../ground/core/file-problem.js';

/** 0: success. 1: the command failed. 2: the command line or a setting is invalid. */
export type ExitCode = 0 | 1 | 2;

/** Indentation of the continuation lines of one message, in columns. */
const HANG = 4;

/** Prints an error on stderr: what failed, and what to do about it. */
export function reportError(error: unknown, context: CliContext): ExitCode {
  // Commander has already printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  // A worker has already printed its own error.
  if (error instanceof WorkerFailedError && typeof error.end === 'number') return error.end === 2 ? 2 : 1;
  for (const line of linesOf(error, context)) context.stderr.write(`${fold(line, context)}\n`);
  const wrongUsage =
    error instanceof UsageError || (error instanceof MillraceError && error.code === 'invalid_setting');
  return wrongUsage ? 2 : 1;
}

/**
 * A terminal would break a long line inside a word. If stderr is not a terminal, a line stays whole for programs that
 * read it.
 */
function fold(line: string, { stderr }: CliContext): string {
  const { isTTY, columns } = stderr;
  if (isTTY !== true || columns === undefined || line.includes('\n')) return line;
  return wrapAfter('', line, HANG, columns).join('\n');
}

/**
 * What to do. A command writes no log, so where the remedy is to look for the cause there, the cause itself is
 * printed, with the place in the code that threw it.
 */
function helpOf(error: MillraceError): readonly string[] {
  const { cause } = error;
  if (!(cause instanceof Error) || (error.code !== 'component_failed' && error.code !== 'internal'))
    return [`help: ${ERROR_CODES[error.code].remedy}`];
  const place = cause.stack?.split('\n').find((line) => line.startsWith('    at '));
  return [`cause: ${printable(String(cause))}`, ...(place === undefined ? [] : [printable(place)])];
}

/** The lines of a text; those after the first one are indented, so that none looks like another message. */
function partsOf(start: string, text: string): readonly string[] {
  const margin = ' '.repeat(HANG);
  return text.split('\n').map((line, at) => `${at === 0 ? start : margin}${printable(line)}`);
}

function linesOf(error: unknown, context: CliContext): readonly string[] {
  if (error instanceof DiagnosticsError || error instanceof DiagnosedUsageError)
    return [renderDiagnostics(error.diagnostics, styleOf(context, context.stderr))];
  if (error instanceof WorkerFailedError) return [`error: ${error.message}`];
  if (error instanceof UsageError) return [`error: ${printable(error.message)}`];
  if (error instanceof CommandFailure) {
    const lines = error.message === '' ? [] : partsOf('error: ', error.message);
    return error.help === undefined ? lines : [...lines, ...partsOf('help: ', error.help)];
  }
  if (error instanceof MillraceError)
    return [
      `error[${error.code}]: ${printable(error.message)}`,
      // The message tells a violation that is the only one.
      ...error.violations
        .filter(({ detail }) => !error.message.includes(detail))
        .map(({ pointer, detail }) => `  ${printable(pointer || '(the body)')}: ${printable(detail)}`),
      ...helpOf(error),
    ];
  if (error instanceof ObjectError)
    return [
      `error: ${printable(error.message)}`,
      ...(error.help === undefined ? [] : [`help: ${error.help}`]),
    ];
  if (isFileProblem(error)) {
    const what = error.path === undefined ? (error.syscall ?? 'use a file') : `use ${error.path}`;
    return [`error: cannot ${printable(what)}: ${fileProblem(error)}`];
  }
  return [
    `error: millrace failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  ];
}
