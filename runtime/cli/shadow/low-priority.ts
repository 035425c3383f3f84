import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Gives this process a low CPU priority, a tenth of the weight of others, so that rankings come first. With the lowest
 * one, an arm would hardly start while others use all cores. On Linux, each thread has a priority of its own, and V8 has
 * started some: they compile, and they collect garbage for an arm that eats memory.
 */
export function takeLowPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch (error) {
      // A thread can end meanwhile.
      if ((error as { readonly code?: unknown }).code !== 'ERR_SYSTEM_ERROR') throw error;
    }
  }
}
