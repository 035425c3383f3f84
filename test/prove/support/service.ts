import { fork, type ChildProcess } from 'node:child_process';
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

/** A service in a separate process that ranks the items. */
export interface ProvedService {
  readonly port: number;
  readonly process: ChildProcess;
  usage(): Promise<ServiceUsage>;
}

/** Runs the service on a store with the items loaded, until `use` resolves. */
export async function withService<T>(
  store: 'redis' | 'embedded',
  env: Readonly<Record<string, string>>,
  use: (service: ProvedService) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prove-'));
  const redis = store === 'redis' ? await startRedisServer() : undefined;
  let child: ChildProcess | undefined;
  try {
    await writeRankingProject(folder);
    child = fork(fileURLToPath(new URL('./service-process.js', import.meta.url)), {
      env: {
        ...process.env,
        MILLRACE_PROJECT: folder,
        MILLRACE_STORE: store,
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        LOG_LEVEL: 'error',
        PORT: '0',
        ...env,
      },
    });
    const started = child;
    const [port] = (await once(started, 'message')) as [number];
    await loadItems(`http://127.0.0.1:${port}`);
    return await use({
      port,
      process: started,
      async usage() {
        started.send('usage');
        const [usage] = (await once(started, 'message')) as [ServiceUsage];
        return usage;
      },
    });
  } finally {
    child?.kill('SIGKILL');
    await redis?.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
