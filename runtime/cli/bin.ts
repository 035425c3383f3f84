#!/usr/bin/env node
import { runCli } from './run-cli.js';
import type { StrayKind } from '../serve/app/plugins/stray-errors.js';
import { exitCall } from '../ground/core/exit-call.js';
import { version } from '../project/settings/version.js';

// A closed pipe (millrace plan … | head) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const cleanups = new Set<() => void>();

/** Ends the process by the signal, as it would end without a listener. So a shell sees the exit code 130 or 143. */
function cleanAndEnd(signal: NodeJS.Signals): void {
  // A service or a command that runs until it is stopped listens too, and ends by itself.
  if (process.listenerCount(signal) > 1) return;
  try {
    for (const clean of cleanups) clean();
  } finally {
    process.off(signal, cleanAndEnd);
    process.kill(process.pid, signal);
  }
}

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
      for (const signal of SIGNALS) process.once(signal, () => stop.abort());
      return stop.signal;
    },
    beforeSignal(clean) {
      // Without a listener, a signal ends the process also while it computes.
      if (cleanups.size === 0) for (const signal of SIGNALS) process.on(signal, cleanAndEnd);
      cleanups.add(clean);
      return () => {
        if (cleanups.delete(clean) && cleanups.size === 0)
          for (const signal of SIGNALS) process.off(signal, cleanAndEnd);
      };
    },
    strayErrors(caught) {
      const failWith =
        (kind: StrayKind) =>
        (error: unknown): void => {
          if (!caught(kind, error)) {
            console.error('error: millrace failed:', error);
            process.exit(1);
          }
          process.exitCode = 1;
        };
      process.on('uncaughtException', failWith('exception'));
      process.on('unhandledRejection', failWith('rejection'));
      process.on('exit', (status) => {
        const call = exitCall(status);
        if (call !== undefined && caught('exit', call)) process.exitCode = status === 0 ? 1 : status;
      });
    },
  },
  version,
);
process.exitCode ||= code;
