import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Gives this process the lowest CPU priority, so that it runs on what other processes leave. On Linux, each thread has
 * a priority of its own, and V8 has started some: they compile, and they collect garbage for an arm that eats memory.
 */
export function takeLowestPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW);
    } catch (error) {
      // A thread can end meanwhile.
      if ((error as { readonly code?: unknown }).code !== 'ERR_SYSTEM_ERROR') throw error;
    }
  }
}
