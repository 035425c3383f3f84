import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { writeProject } from '../../support/project.js';
import { BIN } from '../../support/repository.js';

/** Time that a ranking of the torture project may take, milliseconds. */
export const RANKING_LIMIT = 150;

/** A ranking whose score tells which version of an item it saw, and whether maker and features were there. */
const PROJECT = {
  'schemas/entities/maker.yaml': 'entity: maker\nattributes:\n  rating: int\n',
  'schemas/entities/item.yaml': 'entity: item\nattributes:\n  version: int\n  maker: ref(maker)\n',
  'schemas/features/item_stats.yaml': 'view: item_stats\nof: [item]\nfeatures:\n  boost: int\n',
  'pipelines/items.yaml': [
    'pipeline: items',
    'rank: item',
    'request: { candidates: {} }',
    `limits: { candidates: 1000, time: ${RANKING_LIMIT}ms }`,
    'features: [item_stats]',
    'components:',
    '  - use: score',
    '    with: { value: 1000 * item.version + 10 * item.maker.rating + item_stats:boost }',
    'page: { size: 1000, max_size: 1000 }',
    '',
  ].join('\n'),
};

/** A service of this build in a process of its own, over a Redis. */
export interface TortureService {
  readonly url: string;
  readonly pid: number;
  /** Memory that the process holds, bytes. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * @param environment says where Redis is
 * @param changed files of the project that differ
 */
export async function startTortureService(
  environment: NodeJS.ProcessEnv,
  changed: Readonly<Record<string, string>> = {},
): Promise<TortureService> {
  const root = await writeProject({ ...PROJECT, ...changed });
  const service = spawn(
    process.execPath,
    [BIN, 'serve', '--project', root, '--store', 'redis', '--port', '0'],
    {
      env: { ...process.env, LOG_LEVEL: 'info', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const kill = (): void => void service.kill('SIGKILL');
  process.once('exit', kill);
  // So that what was started ends with a script that is told to stop: by default 'exit' is not emitted then.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, exitNow);
  const end = async (): Promise<void> => {
    if (service.exitCode === null && service.signalCode === null) {
      service.kill('SIGKILL');
      await once(service, 'exit');
    }
    process.off('exit', kill);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, exitNow);
    await rm(root, { recursive: true, force: true });
  };
  try {
    const url = await new Promise<string>((resolve, reject) => {
      service.once('exit', () => reject(new Error('the service ended before it listened')));
      createInterface({ input: service.stdout }).on('line', (line) => {
        const found = /"url":"(http:[^"]+)".*"msg":"listening"/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    return {
      url,
      pid: service.pid ?? 0,
      async memory() {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]);
      },
      stop: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function exitNow(): void {
  process.exit(1);
}
