import { createReadStream } from 'node:fs';
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_KINDS, LOADED_KINDS } from '../../../project/config/yaml/file-kinds.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';

const YAML_FOLDERS = LOADED_KINDS.map((kind) => FILE_KINDS[kind].folder);
const PLUGINS = 'plugins';

/** Stamps by path, relative to the project. The stamp of a file changes when the file changes. */
export type Snapshot = ReadonlyMap<string, string>;

/**
 * Lists the files of a project with their sizes and times: YAML files, plugins, and the files that options name. This
 * is cheap. Missing files are left out, and links are followed.
 * @param named the files that options name
 * @param folders further folders with YAML files
 */
export async function listFiles(
  root: string,
  named: Iterable<string>,
  folders: readonly string[] = [],
): Promise<Snapshot> {
  const yaml = await Promise.all([...YAML_FOLDERS, ...folders].map((folder) => yamlFiles(root, folder)));
  const paths = new Set([PROJECT_FILE, ...yaml.flat(), ...(await pluginFiles(root)), ...named]);
  const stamps = await Promise.all(
    Array.from(paths)
      .sort()
      .map(async (path) => [path, await stampOf(join(root, path))] as const),
  );
  return new Map(stamps.flatMap(([path, stamp]) => (stamp === undefined ? [] : [[path, stamp] as const])));
}

/** The version of a file's content (see contentVersion), or undefined if it cannot be read. */
export async function versionOfFile(root: string, path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(join(root, path))) hash.update(chunk as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest('hex').slice(0, 12);
}

async function yamlFiles(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder)).catch(() => []);
  return names.filter((name) => /^[^.].*\.ya?ml$/i.test(name)).map((name) => `${folder}/${name}`);
}

/** The files of the compiled plugins. A folder without index.js was not loaded. */
async function pluginFiles(root: string): Promise<string[]> {
  const names = await readdir(join(root, PLUGINS)).catch(() => []);
  const folders = await Promise.all(names.map((name) => filesBelow(root, `${PLUGINS}/${name}`)));
  return folders.filter((files) => files.some((file) => file.endsWith('/index.js'))).flat();
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .map(async (entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(root, path) : [path];
    });
  return (await Promise.all(found)).flat();
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return undefined;
  }
}
