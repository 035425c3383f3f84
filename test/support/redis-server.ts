import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HOW_TO_GET = 'get one with `apt-get install redis-server` or `brew install redis`';

let isThere: boolean | undefined;

/**
 * Skips the suite where the machine has no redis-server, saying how to get one; fails instead where CI is set.
 * Call it first in a `before` hook.
 */
export function needRedisServer(context: Mocha.Context): void {
  isThere ??= spawnSync('redis-server', ['--version']).status === 0;
  if (isThere) return;
  if (process.env.CI) throw new Error(`no redis-server on this machine; ${HOW_TO_GET}`);
  process.stderr.write(`    no redis-server on this machine, so these tests are skipped; ${HOW_TO_GET}\n`);
  context.skip();
}

/** A redis-server of a test's own, on a free port, with its files in a temporary folder. */
export interface PrivateRedis {
  readonly port: number;
  readonly url: string;
  /** Process id of the server that runs now. */
  pid(): number;
  /** Stops the server; it can be started again on the same port, empty. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server, if it runs, and removes its files. */
  remove(): Promise<void>;
}

export async function startRedisServer(
  args: readonly string[] = [],
  choosePort: () => Promise<number> = freePort,
): Promise<PrivateRedis> {
  for (let attempt = 1; ; attempt++) {
    const dir = await mkdtemp(join(tmpdir(), 'millrace-redis-'));
    const port = await choosePort();
    try {
      return await startOn(port, dir, args);
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      if (attempt === 5) throw error; // another process took the port each time, or the server is broken
    }
  }
}

async function startOn(port: number, dir: string, args: readonly string[]): Promise<PrivateRedis> {
  let server: ChildProcess | undefined = await run(port, dir, args);
  const stop = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running?.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: () => server?.pid ?? 0,
    stop,
    async start() {
      server ??= await run(port, dir, args);
    },
    async remove() {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function run(port: number, dir: string, args: readonly string[]): Promise<ChildProcess> {
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  return launchRedis([...settings, ...args], 'Ready to accept connections');
}

/** Runs redis-server until this process ends; resolves once it has printed the text. */
export async function launchRedis(args: readonly string[], readyText: string): Promise<ChildProcess> {
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  server.once('exit', () => process.off('exit', kill));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`redis-server did not start:\n${output}`)));
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes(readyText)) resolve();
    });
  });
  return server;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
