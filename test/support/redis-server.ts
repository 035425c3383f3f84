import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A private redis-server on a free port, with its files in a temporary folder. */
export interface PrivateRedis {
  readonly port: number;
  readonly url: string;
  /** The process id of the running server. */
  pid(): number;
  /** Stops the server. It can be started again on the same port; it is then empty. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server, if it is running, and removes its files. */
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
      if (attempt === 5) throw error; // Either another process took the port each time, or the server is broken.
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

/** Runs redis-server until this process ends. Resolves once the server has printed the text. */
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
