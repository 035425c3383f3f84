#!/usr/bin/env node
import { runCli } from './run-cli.js';
import { version } from '../version.js';

// A reader that has seen enough (millrace plan … | head) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// The exit code is set rather than exited with, so that all output is written.
process.exitCode = await runCli(
  process.argv.slice(2),
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal() {
      const stop = new AbortController();
      // A second signal ends the process at once, as it would without this.
      for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort());
      return stop.signal;
    },
  },
  version,
);
