import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startRedisServer } from '../support/redis-server.js';
import { BIN, repositoryPath } from '../support/repository.js';

export type Engine = 'embedded' | 'redis';

/** A service of this build with a private store. */
export interface PrivateService {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param project its folder, by default the project that ships */
export async function startPrivateService(
  engine: Engine,
  project = repositoryPath(),
): Promise<PrivateService> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-acceptance-'));
  const cleanUp: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const step of cleanUp.reverse()) await step();
  };
  try {
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      MILLRACE_DATA_DIR: join(folder, 'data'),
      MILLRACE_LAME_DUCK_MS: '0',
    };
    if (engine === 'redis') {
      const redis = await startRedisServer();
      cleanUp.push(() => redis.remove());
      environment.REDIS_URL = redis.url;
    }
    const flags = ['--project', project, '--store', engine, '--port', '0', '--host', '127.0.0.1'];
    const service = spawn(process.execPath, [BIN, 'serve', ...flags], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanUp.push(() => end(service));
    return { url: await listeningUrl(service), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the address that the service prints when it listens. */
async function listeningUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the service has no standard output');
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    const url = /"url":"(http:[^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    // Nothing reads the rest of its log, and a full pipe would block the service.
    stdout.resume();
    return url;
  }
  throw new Error(`the service ended before it listened:\n${lines.join('\n')}`);
}

async function end(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill('SIGTERM');
  await once(service, 'exit');
}
