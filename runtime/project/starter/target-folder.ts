import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../config/diagnostics/failure.js';
import { removeNow } from '../../ground/core/scratch-folder.js';

/** What npm and git put into a folder, and file managers. These files stay as they are. */
const HARMLESS = /^(\.git|node_modules|package\.json|package-lock\.json|\.DS_Store|Thumbs\.db|.*\.tgz)$/;
const MOST_SHOWN = 5;

/** A folder in which a project is made. It gets all files of the project at the end, or none. */
export interface TargetFolder {
  readonly path: string;
  /** The folder for the files until then, on the same file system. */
  readonly work: string;
  /** Moves the files into the folder. @returns the files that were there already and stay as they are */
  finish(): Promise<readonly string[]>;
  /** Leaves the folder as it was found. */
  abandon(): Promise<void>;
}

/**
 * Opens a folder that is empty or does not exist.
 * @param inputs files that may be in the folder
 * @throws CommandFailure if anything else is in it
 */
export async function openTargetFolder(
  context: Console,
  folder: string,
  inputs: readonly string[],
): Promise<TargetFolder> {
  const path = resolve(folder);
  await checkEmpty(path, folder, inputs);
  const work = join(path, `.millrace-init-${randomUUID()}`);
  let first: string | undefined;
  // Before the folder exists: without a listener, a signal ends the process at once. Nothing is awaited in between.
  const release =
    context.beforeSignal?.(() => {
      removeNow(work);
      if (first !== undefined) removeEmptyNow(path, first);
    }) ?? (() => undefined);
  try {
    first = mkdirSync(path, { recursive: true });
    mkdirSync(work, { mode: 0o700 });
  } catch (error) {
    release();
    throw error;
  }
  const moved: string[] = [];
  return {
    path,
    work,
    async finish() {
      const kept: string[] = [];
      for (const name of await readdir(work)) {
        if (existsSync(join(path, name))) {
          kept.push(name);
          continue;
        }
        await rename(join(work, name), join(path, name));
        moved.push(name);
      }
      await rm(work, { recursive: true, force: true });
      release();
      return kept;
    },
    async abandon() {
      for (const name of moved) await rm(join(path, name), { recursive: true, force: true });
      await rm(work, { recursive: true, force: true });
      if (first !== undefined) await removeEmpty(path, first);
      release();
    },
  };
}

async function checkEmpty(path: string, shown: string, inputs: readonly string[]): Promise<void> {
  const own = new Set(inputs.map((file) => resolve(file)));
  const names = await readdir(path).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code === 'ENOTDIR') throw new CommandFailure(`${shown} is a file`, 'name a folder');
    throw error;
  });
  const inTheWay = names.filter((name) => !HARMLESS.test(name) && !own.has(join(path, name))).sort();
  if (inTheWay.length === 0) return;
  const some = inTheWay.slice(0, MOST_SHOWN).join(', ');
  const more = inTheWay.length > MOST_SHOWN ? ` and ${inTheWay.length - MOST_SHOWN} more` : '';
  throw new CommandFailure(
    `the folder ${shown} is not empty; nothing is written. It has ${some}${more}`,
    `name a new folder: millrace init ${basename(path)}-ranking`,
  );
}

/** Removes the folders that were made, if they are empty. */
async function removeEmpty(path: string, first: string): Promise<void> {
  for (let folder = path; folder.length >= first.length; folder = dirname(folder))
    await rmdir(folder).catch(() => undefined);
}

function removeEmptyNow(path: string, first: string): void {
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
