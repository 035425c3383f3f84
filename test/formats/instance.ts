import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/redis-server.js';

/** A service in a process of its own, of any version. */
export interface Instance {
  readonly url: string;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

/**
 * Starts the service that is built in a folder.
 * @param checkout a checkout of some version, with `dist`
 */
export async function startInstance(
  checkout: string,
  env: Readonly<Record<string, string>>,
): Promise<Instance> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(checkout, 'dist', 'runtime', 'main.js')], {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const gone = once(child, 'exit').then(() => process.off('exit', kill));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries === 400) {
      kill();
      throw new Error(`the service of ${checkout} did not start:\n${said}`);
    }
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) break;
    await pause(50);
  }
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await gone;
    },
  };
}
