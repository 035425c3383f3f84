import { runCli } from './cli/run-cli.js';
import { version } from './project/settings/version.js';

/** What a container runs: `millrace serve`, with its messages, set by the environment and millrace.yaml alone. */
const { env, stdin, stdout, stderr } = process;
// serve takes the signals itself.
const stopSignal = (): AbortSignal => new AbortController().signal;
process.exitCode = await runCli(['serve'], { env, stdin, stdout, stderr, stopSignal }, version);
