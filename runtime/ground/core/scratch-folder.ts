import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Console } from './console.js';

/** A folder for temporary files of one command. */
export interface ScratchFolder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/**
 * Creates a folder that is also removed if a signal ends the process.
 * @param prefix start of its path; a random id follows
 */
export function scratchFolder(context: Console, prefix: string): ScratchFolder {
  const path = prefix + randomUUID();
  // Before the folder exists: without a listener, a signal ends the process at once.
  const release = removeOnSignal(context, path);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    release();
    throw error;
  }
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      release();
    },
  };
}

/**
 * Removes a folder if a signal ends the process.
 * @returns a function that leaves the folder alone again
 */
export function removeOnSignal(context: Console, path: string): () => void {
  const remove = (): void => {
    if (!removeNow(path)) context.stderr.write(`could not remove ${path}\n`);
  };
  return context.beforeSignal?.(remove) ?? (() => undefined);
}

/** A removal is tried for half a second. A write that has begun takes less. */
const TRIES = 50;
const PAUSE_MS = 10;

/**
 * Removes a folder without returning to the event loop. The file operations that have begun go on in other threads, and can
 * write into the folder or make it again, so it is removed until it stays away.
 * @returns whether the folder is gone
 */
export function removeNow(path: string): boolean {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Something was written between the listing and the removal.
    }
    Atomics.wait(sleeper, 0, 0, PAUSE_MS);
    if (!existsSync(path)) return true;
  }
  return false;
}
