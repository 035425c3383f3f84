import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { isObjectPath, storedFile } from '../../../ground/core/stored-files.js';
import { FILE_KINDS } from '../../../project/config/yaml/file-kinds.js';
import type { LinkedFolders } from '../../../project/settings/linked-folders.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import { OptionFiles } from '../../../request/compile/option-files.js';
import { isReleasePath, packFiles, type ReleaseFile } from '../../../state/releases/release-archive.js';
import type { Release } from '../../../state/releases/release-index.js';
import { yamlFilesOf } from './project-version.js';
import type { Generation } from './generation.js';

/** Files that are larger than so many times the bound are not packed to find out. Text of models packs to a fourth. */
const MOST_PACKING = 16;

export interface CollectOptions {
  readonly linked: LinkedFolders;
  /** The most bytes of the packed files. */
  readonly most: number;
}

/** A release, and its packed files if it can be kept. */
export interface CollectedRelease {
  readonly release: Omit<Release, 'parts' | 'time'>;
  readonly packed: Buffer | undefined;
}

/**
 * Reads the files of the project that a generation serves: YAML files, millrace.yaml and the files that options name, without
 * code and without the lists of curation.
 */
export async function collectRelease(
  { config, version, optionFiles, code }: Pick<Generation, 'config' | 'version' | 'optionFiles' | 'code'>,
  { linked, most }: CollectOptions,
): Promise<CollectedRelease> {
  const empty = { version, files: 0, bytes: 0, packed: 0, sha256: '', code };
  const files: ReleaseFile[] = yamlFilesOf(config).map(({ path, text }) => ({
    path,
    content: Buffer.from(text),
  }));
  const ofProject = await readFile(join(config.root, PROJECT_FILE)).catch(() => undefined);
  if (ofProject !== undefined) files.push({ path: PROJECT_FILE, content: ofProject });
  const found = await readNamed(config.root, optionFiles, linked, most * MOST_PACKING);
  if (typeof found === 'string') return { release: { ...empty, detail: found }, packed: undefined };
  files.push(...found);
  const { packed, bytes, sha256 } = await packFiles(files);
  const release = { ...empty, files: files.length, bytes, packed: packed.length, sha256 };
  if (packed.length <= most) return { release, packed };
  const detail = `its files take ${megabytes(packed.length)} packed, and MILLRACE_RELEASE_BYTES allows ${megabytes(most)}`;
  return { release: { ...release, detail }, packed: undefined };
}

/** Reads the files that options name, as they were loaded. @returns why they cannot be kept otherwise */
async function readNamed(
  root: string,
  versions: Generation['optionFiles'],
  linked: LinkedFolders,
  most: number,
): Promise<ReleaseFile[] | string> {
  const named = [...versions].filter(([, version]) => version !== undefined);
  const sizes = await Promise.all(
    named.map(([path]) =>
      storedFile(isObjectPath(path) ? path : join(root, path)).then(
        ({ bytes }) => bytes,
        () => 0,
      ),
    ),
  );
  const sum = sizes.reduce((a, b) => a + b, 0);
  if (sum > most) return `its files have ${megabytes(sum)}, which is too much for MILLRACE_RELEASE_BYTES`;
  const reader = new OptionFiles(root, linked);
  const files: ReleaseFile[] = [];
  for (const [written, version] of named) {
    const path = posix.join(written);
    if (!isReleasePath(path)) return `${written} is in a folder that a release does not hold`;
    const file = await reader.find(written);
    if (file?.version !== version) return `${written} changed after it was loaded`;
    files.push({ path, content: Buffer.from(file?.content ?? []) });
  }
  return files;
}

/**
 * Writes the files of a release to a temporary folder. The lists of curation are those of the project, so that merchandisers
 * go on with them.
 * @param files checked: see `unpackFiles`
 * @param project the folder of the project
 * @throws ErrnoException if the folder of temporary files takes no files
 */
export async function writeRelease(
  files: readonly ReleaseFile[],
  project: string,
): Promise<{ readonly root: string; readonly remove: () => Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-release-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    for (const { path, content } of files) {
      const target = join(root, path);
      await mkdir(dirname(target), { recursive: true });
      // No file of a release replaces another, or follows a link.
      await writeFile(target, content, { flag: 'wx' });
    }
    const { folder } = FILE_KINDS.curation;
    await symlink(join(project, folder), join(root, folder));
    return { root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
