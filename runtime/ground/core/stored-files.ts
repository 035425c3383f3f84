import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Bucket, type BucketOptions } from './bucket.js';
import { ObjectError } from './object-error.js';

/** `path.join` makes one slash of two, so one is enough. */
const OBJECT_PATH = /^s3:\/\/?([^/]+)(?:\/(.*))?$/s;
/** The largest object that is read into memory. */
const MOST_BYTES = 2 ** 30;

/** The most bytes that are copied for a program that reads files alone. */
const MOST_COPIED = 50 * 2 ** 30;

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
  if (ending !== '' && key.endsWith(ending)) return [await storedFile(path)];
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

/** Whether a file or an object is there. @throws ObjectError if the storage does not tell */
export function isStored(path: string): Promise<boolean> {
  return storedFile(path).then(
    () => true,
    (error: unknown) => {
      if (isUnanswered(error)) throw error;
      return false;
    },
  );
}

/** Whether it is not known if there is an object. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ObjectError && error.code !== 'ENOENT';
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
export async function readStored(path: string, options?: BucketOptions): Promise<Buffer> {
  if (!isObjectPath(path)) return await readFile(path);
  const { bucket, key } = objectPlace(path, options);
  return await bucket.readWhole(key, MOST_BYTES);
}

/**
 * A folder with the files of a path: the folder itself, or a copy of the objects for a program that reads files alone.
 * @param copy where the copy goes; its caller removes it
 * @throws ObjectError for more than 50 GiB
 */
export async function localFolder(path: string, copy: string): Promise<string> {
  if (!isObjectPath(path)) return resolve(path);
  const files = await storedFiles(path, '');
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > MOST_COPIED) throw new ObjectError(`${path} has ${bytes} bytes, which is too much for a copy`);
  await mkdir(copy, { recursive: true, mode: 0o700 });
  // A data set has no folders, so the last part of the key is the whole name.
  for (const file of files)
    await pipeline(readPieces(file.path), createWriteStream(join(copy, basename(file.path))));
  return copy;
}

/** Stores an object, whole or not at all. @throws ObjectError */
export async function writeObject(path: string, content: Buffer, options?: BucketOptions): Promise<void> {
  const { bucket, key } = objectPlace(path, options);
  await bucket.write(key, content);
}

/** @throws ObjectError */
export async function removeObject(path: string, options?: BucketOptions): Promise<void> {
  const { bucket, key } = objectPlace(path, options);
  await bucket.remove(key);
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
