import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { CliContext } from './context.js';

/** A folder for temporary files of one command. */
export interface ScratchFolder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/**
 * Creates a folder that is also removed if a signal ends the process.
 * @param prefix start of its path; six random characters follow
 */
export function scratchFolder(context: CliContext, prefix: string): ScratchFolder {
  const path = mkdtempSync(prefix);
  const release = removeOnSignal(context, path);
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
export function removeOnSignal(context: CliContext, path: string): () => void {
  return context.beforeSignal?.(() => rmSync(path, { recursive: true, force: true })) ?? (() => undefined);
}
