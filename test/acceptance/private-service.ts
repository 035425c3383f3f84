import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryPath } from '../support/repository.js';

export type Engine = 'embedded' | 'redis';

/** A service of this build, with a store and a folder that nothing else uses. */
export interface PrivateService {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPrivateService(engine: Engine): Promise<PrivateService> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-acceptance-'));
  const processes: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of processes.reverse()) await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const environment = { ...process.env, MILLRACE_DATA_DIR: join(folder, 'data') };
    if (engine === 'redis') {
      const redis = await startRedis(folder);
      processes.push(redis.child);
      Object.assign(environment, { REDIS_URL: `redis://127.0.0.1:${redis.port}` });
    }
    const bin = repositoryPath('dist/runtime/cli/bin.js');
    const flags = ['--project', repositoryPath(), '--store', engine, '--port', '0', '--host', '127.0.0.1'];
    const service = spawn(process.execPath, [bin, 'serve', ...flags], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    processes.push(service);
    return { url: await listeningUrl(service), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where the service says that it listens. */
async function listeningUrl(service: ChildProcess): Promise<string> {
  const { stdout } = service;
  if (stdout === null) throw new Error('the service has no standard output');
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    const url = /"url":"(http:[^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    stdout.resume();
    return url;
  }
  throw new Error(`the service ended before it listened:\n${lines.join('\n')}`);
}

async function startRedis(folder: string): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('redis-server does not start; install it, or run with --store embedded', {
      cause: error,
    });
  });
  await Promise.race([failed, ready(child)]);
  return { child, port };
}

async function ready(redis: ChildProcess): Promise<void> {
  if (redis.stdout === null) return;
  for await (const line of createInterface({ input: redis.stdout })) {
    if (!/ready to accept connections/i.test(line)) continue;
    redis.stdout.resume();
    return;
  }
  throw new Error('redis-server ended before it was ready');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
