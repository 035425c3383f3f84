import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Bucket, ObjectError, type BucketOptions } from './bucket.js';

/** `path.join` makes one slash of two, so one is enough. */
const OBJECT_PATH = /^s3:\/\/?([^/]+)(?:\/(.*))?$/s;
/** The largest object that is read into memory. */
const MOST_BYTES = 2 ** 30;

/** What is known of a file or of an object, without reading it. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
  /** The permissions of a file; an object, which never changes, has none. */
  readonly mode: number | undefined;
}

/** An open file, or an object as if it were one. */
export interface OpenFile {
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<{
    readonly size: number;
    readonly mtimeMs: number;
    isFile(): boolean;
    isDirectory(): boolean;
  }>;
  createReadStream(options: { readonly highWaterMark: number }): Readable;
  close(): Promise<void>;
}

/** The place of an object. */
export interface ObjectPlace {
  readonly bucket: Bucket;
  readonly key: string;
}

/** Whether a path names an object or a prefix: `s3://bucket/…`. */
export function isObjectPath(path: string): boolean {
  return /^s3:\//.test(path);
}

/** As `path.resolve`, for a path that may name an object. */
export function resolveStored(folder: string, path: string): string {
  return isObjectPath(path) ? path : resolve(folder, path);
}

/** @throws ObjectError if the path is wrong; see `Bucket` */
export function objectPlace(path: string, options?: BucketOptions): ObjectPlace {
  const [, name = '', key = ''] = OBJECT_PATH.exec(path) ?? [];
  // A URL without a dot in its segments is the only form that every server reads in the same way.
  if (name === '' || key.split('/').some((one) => one === '.' || one === '..') || key.includes('\0'))
    throw new ObjectError(`${JSON.stringify(path)} is not a path of objects`, {
      help: 'write s3://bucket/prefix, without `.` and `..`',
    });
  return { bucket: bucketOf(name, options), key };
}

/** One client for each bucket and server: it keeps its connections. */
const buckets = new Map<string, Bucket>();

function bucketOf(name: string, options: BucketOptions | undefined): Bucket {
  const made = new Bucket(name, options);
  const id = JSON.stringify([made.endpoint, name, options?.region, process.env.AWS_ACCESS_KEY_ID]);
  const known = options === undefined ? buckets.get(id) : undefined;
  if (known === undefined && options === undefined) buckets.set(id, made);
  return known ?? made;
}

/**
 * The files below a folder, or the objects below a prefix, in the order of their paths; for the path of a file, itself.
 * @param ending of their names
 * @throws ErrnoException or ObjectError; `ENOENT` if there is nothing at all
 */
export async function storedFiles(path: string, ending: string): Promise<StoredFile[]> {
  if (isObjectPath(path)) return objectsBelow(path, ending);
  const found = await stat(path);
  if (!found.isDirectory()) return [{ path, ...factsOf(found) }];
  const entries = await readdir(path, { recursive: true });
  const paths = entries.filter((entry) => entry.endsWith(ending)).map((entry) => join(path, entry));
  const files = await Promise.all(
    paths.sort().map(async (one): Promise<StoredFile | undefined> => {
      // A file may be removed meanwhile.
      const facts = await stat(one).catch(() => undefined);
      return facts && { path: one, ...factsOf(facts) };
    }),
  );
  return files.filter((file) => file !== undefined);
}

async function objectsBelow(path: string, ending: string): Promise<StoredFile[]> {
  const { bucket, key } = objectPlace(path);
  if (key.endsWith(ending)) return [await storedFile(path)];
  const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
  const files: StoredFile[] = [];
  let isEmpty = true;
  for await (const { key: found, bytes, writtenAt } of bucket.list(prefix)) {
    isEmpty = false;
    if (found.endsWith(ending))
      files.push({ path: `s3://${bucket.name}/${found}`, bytes, writtenAt, mode: undefined });
  }
  if (isEmpty) throw new ObjectError(`there is nothing below ${path}`, { code: 'ENOENT' });
  // Keys are listed by their UTF-8, paths are sorted by their UTF-16.
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @throws ErrnoException or ObjectError; `ENOENT` if it is not there */
export async function storedFile(path: string): Promise<StoredFile> {
  if (!isObjectPath(path)) return { path, ...factsOf(await stat(path)) };
  const { bucket, key } = objectPlace(path);
  const { bytes, writtenAt } = await bucket.facts(key);
  return { path, bytes, writtenAt, mode: undefined };
}

function factsOf({
  size,
  mtimeMs,
  mode,
}: {
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
}): Omit<StoredFile, 'path'> {
  return { bytes: size, writtenAt: mtimeMs, mode };
}

/** The bytes of a file or of an object, in pieces. Nothing is kept on disk. */
export function readPieces(path: string, pieceBytes?: number): AsyncIterable<Buffer> {
  if (!isObjectPath(path))
    return createReadStream(path, pieceBytes === undefined ? {} : { highWaterMark: pieceBytes });
  const { bucket, key } = objectPlace(path);
  return bucket.read(key);
}

/** The content of a file or of an object. @throws as `storedFile`; ObjectError for an object of more than 1 GiB */
export async function readStored(path: string): Promise<Buffer> {
  if (!isObjectPath(path)) return await readFile(path);
  const { bucket, key } = objectPlace(path);
  return await bucket.readWhole(key, MOST_BYTES);
}

/** Opens a file or an object to read parts of it. @throws as `storedFile` */
export async function openStored(path: string): Promise<OpenFile> {
  if (!isObjectPath(path)) return await open(path);
  const { bucket, key } = objectPlace(path);
  const { bytes, writtenAt } = await bucket.facts(key);
  const facts = { size: bytes, mtimeMs: writtenAt, isFile: () => true, isDirectory: () => false };
  return {
    stat: () => Promise.resolve(facts),
    close: () => Promise.resolve(),
    createReadStream: () => Readable.from(bucket.read(key), { objectMode: false }),
    async read(into, offset, length, position) {
      let bytesRead = 0;
      if (length > 0 && position < bytes)
        for await (const piece of bucket.read(key, position, Math.min(bytes, position + length))) {
          into.set(piece, offset + bytesRead);
          bytesRead += piece.length;
        }
      return { bytesRead };
    },
  };
}
