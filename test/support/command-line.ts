import { Readable, Writable } from 'node:stream';
import { runCli } from '../../runtime/cli/run-cli.js';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line of `millrace` in this process, without this process's environment. */
export async function millrace(
  argv: readonly string[],
  more: {
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string;
    readonly stop?: AbortSignal;
    /** Whether the messages go to a terminal. */
    readonly isTerminal?: boolean;
    /** Called with each text that the command prints on either stream. */
    readonly onOutput?: (text: string) => void;
  } = {},
): Promise<CommandResult> {
  const stdout = new Collector(more.onOutput);
  const stderr = Object.assign(new Collector(more.onOutput), { isTTY: more.isTerminal === true });
  const env = { LOG_LEVEL: 'silent', ...more.env };
  const stdin = Readable.from([Buffer.from(more.stdin ?? '')]);
  const stopSignal = (): AbortSignal => more.stop ?? new AbortController().signal;
  const code = await runCli(argv, { env, stdin, stdout, stderr, stopSignal }, '1.2.3');
  return { code, stdout: stdout.text, stderr: stderr.text };
}

class Collector extends Writable {
  text = '';

  constructor(private readonly onText: (text: string) => void = () => undefined) {
    super();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    this.onText(chunk.toString('utf8'));
    done();
  }
}
