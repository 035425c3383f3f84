import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls until the condition holds.
 * @param what the condition, for the message
 * @param limit milliseconds; much more than the condition needs, so that a failing test ends
 * @returns milliseconds until the condition held
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limit = 30_000,
): Promise<number> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > limit) throw new Error(`waited ${limit} ms without success for ${what}`);
    await pause(20);
  }
  return performance.now() - began;
}

/** Retries until an attempt succeeds, and returns its result. The test's time limit ends it. */
export async function untilItWorks<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await pause(20);
    }
  }
}
