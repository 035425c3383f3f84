import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryPath } from '../../support/repository.js';

/**
 * Builds an earlier version from the git history.
 * @returns the reason if its history is not here, otherwise undefined
 * @throws Error if it does not build
 */
export async function buildEarlier(folder: string, commit: string): Promise<string | undefined> {
  const git = spawnSync('git', ['archive', '--format=tar', commit], {
    cwd: repositoryPath(),
    maxBuffer: 512 * 1024 * 1024,
  });
  if (git.status !== 0) return `the history with the commit ${commit} is not here`;
  await mkdir(folder, { recursive: true });
  const tar = spawnSync('tar', ['-x', '-C', folder], { input: git.stdout });
  if (tar.status !== 0) return `tar cannot unpack the commit ${commit}: ${String(tar.stderr)}`;
  // Earlier versions have no dependency that this one lacks, so the build needs no package registry.
  await symlink(repositoryPath('node_modules'), join(folder, 'node_modules'));
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: folder });
  if (build.status === 0 && existsSync(join(folder, 'dist', 'runtime', 'main.js'))) return undefined;
  throw new Error(`the commit ${commit} does not build: ${String(build.stdout)}${String(build.stderr)}`);
}
