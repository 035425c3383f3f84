import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether the files of a new project are in git: committed, in a repository of the user's, or there is no git. */
export type FirstCommit = 'committed' | 'in a repository' | 'no git';

/**
 * Commits the files, so that later changes can be compared with them. A folder that is in a repository is left alone.
 */
export async function firstCommit(folder: string): Promise<FirstCommit> {
  const isInside = await git(folder, ['rev-parse', '--is-inside-work-tree']).then(
    () => true,
    (error: unknown) => ((error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : false),
  );
  if (isInside === undefined) return 'no git';
  if (isInside) return 'in a repository';
  try {
    await git(folder, ['init', '--quiet']);
    await git(folder, ['add', '--all']);
    const hasName = await git(folder, ['var', 'GIT_COMMITTER_IDENT']).then(
      () => true,
      () => false,
    );
    const who = hasName ? [] : ['-c', 'user.name=millrace init', '-c', 'user.email=millrace@localhost'];
    const quiet = ['-c', 'commit.gpgsign=false', '-c', 'core.hooksPath=/dev/null'];
    await git(folder, [...who, ...quiet, 'commit', '--quiet', '--message', 'Start with millrace init']);
    return 'committed';
  } catch {
    return 'no git';
  }
}

async function git(folder: string, argv: readonly string[]): Promise<void> {
  // A hook of git sets GIT_DIR and others for its own repository; the folder decides here.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE)/.test(name),
  );
  await run('git', ['-C', folder, ...argv], { env: Object.fromEntries(inherited) });
}
