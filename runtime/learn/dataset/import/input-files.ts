import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { AS_WORD, didYouMean } from '../../../ground/core/nearest.js';
import {
  isObjectPath,
  isStored,
  isUnanswered,
  objectPlace,
  storedFile,
  storedFiles,
} from '../../../ground/core/stored-files.js';
import type { ImportSource } from '../../../project/foreign/mapping.js';
import { CommandFailure, UsageError } from '../../../project/config/diagnostics/failure.js';
import { formatByName, openFile } from '../../../project/rows/open-input.js';

/** A file of another system. */
export interface ForeignFile {
  readonly path: string;
  /** The path below the folder that the user named, or the name of the file. Mappings use it. */
  readonly name: string;
  readonly bytes: number;
}

/**
 * Finds the files and objects that the words of the command line name. Folders and prefixes are searched at any depth.
 * @throws UsageError; ObjectError if object storage cannot be used
 */
export async function foreignFiles(words: readonly string[]): Promise<readonly ForeignFile[]> {
  const files: ForeignFile[] = [];
  for (const word of words) {
    if (isObjectPath(word)) {
      files.push(...(await foreignObjects(word)));
      continue;
    }
    const found = await stat(word).catch(() => undefined);
    if (found === undefined) throw new UsageError(`there is nothing at ${word}`);
    if (!found.isDirectory()) {
      files.push({ path: word, name: basename(word), bytes: found.size });
      continue;
    }
    const entries = await readdir(word, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      const name = relative(word, path);
      if (!entry.isFile() || !isForeign(name)) continue;
      files.push({ path, name, bytes: (await stat(path)).size });
    }
  }
  if (files.length === 0)
    throw new UsageError(
      `${words.join(', ')} has no file of records: .csv, .tsv, .jsonl, .ndjson, .json or .parquet, also with .gz`,
    );
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether a file of a folder is one of records, and not hidden. */
function isForeign(name: string): boolean {
  const isHidden = name.split(/[/\\]/).some((part) => part.startsWith('.'));
  return !isHidden && formatByName(name.replace(/\.gz$/i, '')) !== undefined;
}

/** An object, or those below a prefix. */
async function foreignObjects(path: string): Promise<readonly ForeignFile[]> {
  const { bucket, key } = objectPlace(path);
  if (isForeign(basename(path)) && (await isStored(path)))
    return [{ path, name: basename(path), bytes: (await storedFile(path)).bytes }];
  const folder = `s3://${bucket.name}/${key === '' || key.endsWith('/') ? key : `${key}/`}`;
  const found = await storedFiles(folder, '').catch((error: unknown) => {
    if (isUnanswered(error)) throw error;
    throw new UsageError(`there is nothing at ${path}`);
  });
  const named = found.map((file) => ({
    path: file.path,
    name: file.path.slice(folder.length),
    bytes: file.bytes,
  }));
  return named.filter(({ name }) => isForeign(name));
}

/** The file of items that the user names apart from the other files; none if it is one of them. @throws UsageError */
export async function itemsFile(
  path: string,
  files: readonly ForeignFile[],
): Promise<readonly ForeignFile[]> {
  if (files.some((file) => relative(file.path, path) === '')) return [];
  const [file] = await foreignFiles([path]);
  return file === undefined ? [] : [{ ...file, name: basename(path) }];
}

/** The sources of a mapping, with the files that they name. */
export interface FilesOfSource {
  readonly source: ImportSource;
  readonly files: readonly ForeignFile[];
}

/** @throws CommandFailure if a source names no file */
export function matchFiles(
  sources: readonly ImportSource[],
  files: readonly ForeignFile[],
): readonly FilesOfSource[] {
  return sources.map((source) => {
    const patterns = source.files.map(toPattern);
    const own = files.filter(({ name }) =>
      patterns.some((pattern) => pattern.test(name) || pattern.test(basename(name))),
    );
    if (own.length > 0) return { source, files: own };
    const names = files.map(({ name }) => name);
    throw new CommandFailure(
      `the mapping names ${source.files.join(', ')}, and there is no such file`,
      didYouMean(source.files[0] ?? '', names, AS_WORD) ?? `the files are ${names.slice(0, 10).join(', ')}`,
    );
  });
}

function toPattern(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

const SAMPLE = 64 * 1024;

/**
 * A UUID that depends on the sizes, the starts and the ends of the files, and on nothing else.
 * @param what tells different uses of the same files apart
 */
export async function instanceOf(files: readonly ForeignFile[], what = ''): Promise<string> {
  const hash = createHash('sha256').update(what);
  for (const { path, name } of files) {
    const { handle, stat: found } = await openFile(path);
    try {
      hash.update(`${name} ${found.size} `);
      for (const at of [0, Math.max(0, found.size - SAMPLE)]) {
        const bytes = Buffer.alloc(Math.min(SAMPLE, found.size));
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, at);
        hash.update(bytes.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  }
  // Version 8 of RFC 9562: bits of the application's own.
  const hex = hash.digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
