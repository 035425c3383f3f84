#!/usr/bin/env node
import { runCli } from './run-cli.js';
import type { StrayKind } from '../app/container/stray-errors.js';
import { version } from '../settings/version.js';

// A closed pipe (millrace plan … | head) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// Sets the exit code instead of exiting, so that all output is written.
const code = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal() {
      const stop = new AbortController();
      // A second signal ends the process at once, as it would without this handler.
      for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort());
      return stop.signal;
    },
    strayErrors(caught) {
      const failWith =
        (kind: StrayKind) =>
        (error: unknown): void => {
          try {
            caught(kind, error);
            process.exitCode = 1;
          } catch (own) {
            console.error('error: millrace failed:', own);
            process.exit(1);
          }
        };
      process.on('uncaughtException', failWith('exception'));
      process.on('unhandledRejection', failWith('rejection'));
    },
  },
  version,
);
process.exitCode ||= code;
