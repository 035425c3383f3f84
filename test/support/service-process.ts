import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BIN } from './repository.js';

/** One line of the service's log. */
export interface ServiceLine {
  readonly msg: string;
  readonly level: number;
  readonly pid: number;
  readonly url?: string;
  readonly [field: string]: unknown;
}

/** `millrace serve`, or another command that serves, in a process of its own. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** Its log up to now. */
  readonly lines: readonly ServiceLine[];
  /** What it printed to standard error up to now. */
  stderr(): string;
  /** How it ended: its exit code, or the signal. */
  readonly ended: Promise<number | string>;
}

/** A service that ended before it listened. */
export class ServiceFailed extends Error {
  constructor(
    readonly code: number | string,
    readonly lines: readonly ServiceLine[],
    readonly stderr: string,
  ) {
    super(`the service ended with ${code}:\n${stderr}`);
  }
}

/**
 * Starts a command with these arguments, and resolves once it listens.
 * @param env the whole environment, but for PATH; by default there is no warm-up, which would slow the tests down
 * @throws ServiceFailed if it ends before that
 */
export async function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  bin = BIN,
  command: 'serve' | 'workbench' = 'serve',
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [bin, command, ...args], {
    env: { PATH: process.env.PATH, MILLRACE_WARM_UP_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close').then(([code, signal]) => {
    process.off('exit', kill);
    return (code ?? signal) as number | string;
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const lines: ServiceLine[] = [];
  const listening = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as ServiceLine;
      lines.push(line);
      if (line.url !== undefined) resolve(line.url);
    });
  });
  const url = await Promise.race([listening, ended]);
  if (typeof url === 'number' || !url.startsWith('http')) throw new ServiceFailed(url, lines, stderr);
  const { port } = new URL(url);
  return { child, pid: child.pid ?? 0, url, port: Number(port), lines, stderr: () => stderr, ended };
}
