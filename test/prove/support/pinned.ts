import { spawnSync } from 'node:child_process';
import type { ForkOptions } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** True if processes can be kept on cores of their own: the machine has two, and util-linux's `taskset`. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0;

/** Options of `fork` for a process that runs on one core only, if the machine can do that. */
export function pinned(core: 0 | 1): Pick<ForkOptions, 'execPath' | 'execArgv'> {
  if (!canPin) return {};
  return { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath, ...process.execArgv] };
}
