import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE, SHIPPED_PLUGINS } from '../../ground/core/locations.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';

const run = promisify(execFile);
const MOST_OUTPUT = 16 * 1024 * 1024;

/** The files of a project as a commit has them, in a temporary folder. */
export interface CheckedOut {
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Writes the files of a commit to a temporary folder. The repository, its index and its work tree do not change:
 * git gets an index of its own.
 * @param project folder of the project; it may be a folder inside a repository
 * @param ref a commit, branch or tag
 * @throws CommandFailure if the project is not in a repository; UsageError if the ref does not exist
 */
export async function checkOut(context: Console, project: string, ref: string): Promise<CheckedOut> {
  const top = await git(project, ['rev-parse', '--show-toplevel']).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new CommandFailure('git: compares with a commit and needs the program git', 'install git');
    throw new CommandFailure(`${project} is not in a git repository`, 'compare with a folder instead');
  });
  const prefix = await git(project, ['rev-parse', '--show-prefix']);
  const commit = await git(project, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  ]).catch(() => {
    throw new UsageError(`git:${ref}: the repository of ${project} has no commit, branch or tag ${ref}`);
  });
  const { path: scratch, remove } = scratchFolder(context, join(tmpdir(), 'millrace-git-'));
  try {
    const env = { GIT_INDEX_FILE: join(scratch, 'index') };
    const tree = prefix === '' ? commit : `${commit}:${prefix.replace(/\/$/, '')}`;
    await git(top, ['read-tree', tree], env).catch((error: unknown) => {
      throw new CommandFailure(`git:${ref}: the commit has no folder ${prefix}`, undefined, { cause: error });
    });
    const folder = join(scratch, 'project');
    await git(top, ['checkout-index', '--all', `--prefix=${folder}/`], env);
    await addCompiledPlugins(project, commit, folder);
    const packages = join(project, 'node_modules');
    if (existsSync(packages) && !existsSync(join(folder, 'node_modules')))
      await symlink(packages, join(folder, 'node_modules'));
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Compiled plugins are often not in the repository. A plugin whose files have not changed since the commit gets the
 * compiled files of the project. The sources of Millrace's own plugins are left out: Millrace brings them compiled.
 */
async function addCompiledPlugins(project: string, commit: string, folder: string): Promise<void> {
  const namesIn = (parent: string): Promise<string[]> => readdir(parent).catch(() => []);
  const shipped = (await realpath(project)) === PACKAGE ? await namesIn(SHIPPED_PLUGINS) : [];
  for (const name of await namesIn(join(folder, 'plugins'))) {
    const [own, checkedOut] = [join(project, 'plugins', name), join(folder, 'plugins', name)];
    if (shipped.includes(name)) await rm(checkedOut, { recursive: true });
    else if (existsSync(join(own, 'index.js')) && !existsSync(join(checkedOut, 'index.js'))) {
      const isSame = await git(project, ['diff', '--quiet', commit, '--', own]).then(
        () => true,
        () => false,
      );
      if (isSame) await cp(own, checkedOut, { recursive: true });
    }
  }
}

async function git(
  folder: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  // A hook of git sets GIT_DIR and others for its own repository; the folder decides here.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const { stdout } = await run('git', ['-C', folder, ...argv], {
    env: { ...Object.fromEntries(inherited), ...env },
    maxBuffer: MOST_OUTPUT,
  });
  return stdout.replace(/\n$/, '');
}
