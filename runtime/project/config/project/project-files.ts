import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { SourceFile, type Span } from '../yaml/source.js';

/** No project file needs more. A larger file is not a project file. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The start of a file or folder that has no text to show. */
export function placeOf(path: string): Span {
  return { file: new SourceFile(path, ''), start: 0, end: 0 };
}

/** True if the project's folder contains this folder. */
export async function hasFolder(root: string, folder: string): Promise<boolean> {
  try {
    return (await stat(join(root, folder))).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Reads the `*.yaml` files in a folder of the project, sorted by name. Links are followed. Files whose names start
 * with a dot and files with other extensions are ignored.
 */
export async function readYamlFiles(
  root: string,
  folder: string,
  diagnostics: Diagnostics,
): Promise<SourceFile[]> {
  let names: string[];
  try {
    names = await readdir(join(root, folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      diagnostics.error('missing_file', placeOf(folder), `the folder cannot be read: ${reasonOf(error)}`);
    return [];
  }
  const files: SourceFile[] = [];
  for (const name of names.filter((one) => !one.startsWith('.')).sort()) {
    const path = `${folder}/${name}`;
    if (/\.(yml|YAML|YML)$/.test(name)) {
      const renamed = name.replace(/\.[^.]*$/, '.yaml');
      diagnostics.error(
        'file_name',
        placeOf(path),
        'only files that end in .yaml are read',
        `rename it to ${renamed}`,
      );
    } else if (name.endsWith('.yaml')) {
      const file = await readText(root, path, diagnostics);
      if (file !== undefined) files.push(file);
    }
  }
  return files;
}

/**
 * Reads a file of the project. Links are followed.
 * @returns undefined if the file cannot be read or is not UTF-8; the error is in `diagnostics`
 */
export async function readText(
  root: string,
  path: string,
  diagnostics: Diagnostics,
): Promise<SourceFile | undefined> {
  let bytes: Buffer;
  try {
    const info = await stat(join(root, path));
    const why = whyNoFile(info);
    if (why !== undefined) {
      diagnostics.error('missing_file', placeOf(path), `the file cannot be read: ${why}`);
      return undefined;
    }
    if (info.size > MAX_BYTES) {
      diagnostics.error(
        'yaml_syntax',
        placeOf(path),
        `the file is larger than ${MAX_BYTES / 1024 / 1024} MB`,
      );
      return undefined;
    }
    bytes = await readFile(join(root, path));
  } catch (error) {
    diagnostics.error('missing_file', placeOf(path), `the file cannot be read: ${reasonOf(error)}`);
    return undefined;
  }
  try {
    return new SourceFile(path, new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    diagnostics.error(
      'yaml_syntax',
      firstUndecodable(path, bytes),
      'the file is not encoded in UTF-8',
      'save it as UTF-8 in your editor',
    );
    return undefined;
  }
}

/**
 * Finds the first place that is not valid UTF-8. It is the start of the file if almost everything is invalid, as in
 * UTF-16.
 */
function firstUndecodable(path: string, bytes: Buffer): Span {
  if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))) return placeOf(path);
  const file = new SourceFile(path, bytes.toString('utf8'));
  const start = Math.max(0, file.text.indexOf('\ufffd'));
  return { file, start, end: start + 1 };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it is a link whose target does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not a folder',
  ELOOP: 'its links form a cycle',
};

/** Says why something is not a regular file. Opening a pipe would wait for a writer, which may never come. */
export function whyNoFile(info: Stats): string | undefined {
  if (info.isFile()) return undefined;
  return info.isDirectory() ? 'it is a folder' : 'it is a pipe, a socket or a device';
}

/** Says why the system could not open a file or folder, as a clause without a full stop. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? (code || message);
}
