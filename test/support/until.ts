import { setTimeout as pause } from 'node:timers/promises';

/**
 * Looks again and again until it holds.
 * @param what that is awaited, for the message
 * @param limit milliseconds, far beyond what it takes: it ends what would otherwise wait for ever
 * @returns how long it took, milliseconds
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limit = 30_000,
): Promise<number> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > limit) throw new Error(`waited ${limit} ms in vain for ${what}`);
    await pause(20);
  }
  return performance.now() - began;
}

/** Tries until it works, and gives what it gave; the test's time limit ends it. */
export async function untilItWorks<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await pause(20);
    }
  }
}
