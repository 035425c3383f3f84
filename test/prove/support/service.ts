import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../../support/redis-server.js';
import { loadItems, writeRankingProject } from './ranking-project.js';

export interface ServiceUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** A service in a separate process. */
export interface ProvedService {
  readonly port: number;
  readonly process: ChildProcess;
  usage(): Promise<ServiceUsage>;
}

/** Starts a service in a separate process, with these settings. The caller kills it. */
export async function forkService(
  env: Readonly<Record<string, string>>,
  options: ForkOptions = {},
): Promise<ProvedService> {
  const child = fork(fileURLToPath(new URL('./service-process.js', import.meta.url)), {
    ...options,
    env: { ...process.env, LOG_LEVEL: 'error', PORT: '0', ...env },
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    process: child,
    async usage() {
      child.send('usage');
      const [usage] = (await once(child, 'message')) as [ServiceUsage];
      return usage;
    },
  };
}

/** Runs the service on a store with the items loaded, until `use` resolves. */
export async function withService<T>(
  store: 'redis' | 'embedded',
  env: Readonly<Record<string, string>>,
  use: (service: ProvedService) => Promise<T>,
  options: ForkOptions = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prove-'));
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  let service: ProvedService | undefined;
  try {
    await writeRankingProject(folder);
    service = await forkService(
      {
        MILLRACE_PROJECT: folder,
        MILLRACE_STORE: store,
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        ...env,
      },
      options,
    );
    await loadItems(`http://127.0.0.1:${service.port}`);
    return await use(service);
  } finally {
    service?.process.kill('SIGKILL');
    await redis?.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
