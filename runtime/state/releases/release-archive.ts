/**
 * The files of a project, packed:
 *
 *   gzip of
 *     u32 LE  length of the head
 *     JSON    {"format": 1, "files": [[path, bytes, SHA-256 in hex], ...]}
 *     the contents, one after another
 */
import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** One file of a project. Its path is relative to the project, with `/`. */
export interface ReleaseFile {
  readonly path: string;
  readonly content: Buffer;
}

/** What is known of packed files, so that they can be checked before they are used. */
export interface PackedRelease {
  /** Of the unpacked archive. */
  readonly bytes: number;
  /** Of the packed archive, in hex. */
  readonly sha256: string;
}

/** Stored files are not those that were kept: they are damaged, missing or have a path that is not allowed. */
export class ReleaseDamagedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReleaseDamagedError';
  }
}

const HEAD_LENGTH = 4;
const FORMAT = 1;
const [zip, unzip] = [promisify(gzip), promisify(gunzip)];

/** Folders that belong to the instance, not to the release: code, and the lists that merchandisers edit. */
const OF_INSTANCE: ReadonlySet<string> = new Set(['node_modules', 'plugins', 'curation']);

/** Whether a file of a release may have this path: below the project, and in no folder of the instance. */
export function isReleasePath(path: string): boolean {
  const segments = path.split('/');
  return (
    !/[\\\0]/.test(path) &&
    segments.every((one) => one !== '' && one !== '.' && one !== '..') &&
    !OF_INSTANCE.has(segments[0] ?? '')
  );
}

/** Packs files outside the event loop. @returns the archive and what checks it */
export async function packFiles(
  files: readonly ReleaseFile[],
): Promise<PackedRelease & { readonly packed: Buffer }> {
  const list = await Promise.all(
    files.map(async ({ path, content }) => [path, content.length, await sha256(content)]),
  );
  const head = Buffer.from(JSON.stringify({ format: FORMAT, files: list }));
  const length = Buffer.alloc(HEAD_LENGTH);
  length.writeUInt32LE(head.length);
  const archive = Buffer.concat([length, head, ...files.map(({ content }) => content)]);
  const packed = await zip(archive);
  return { packed, bytes: archive.length, sha256: await sha256(packed) };
}

/**
 * Unpacks files and checks them: the archive by its hash before it is unpacked, each file by its own, and all paths.
 * @throws ReleaseDamagedError
 */
export async function unpackFiles(
  packed: Buffer,
  { bytes, sha256: wanted }: PackedRelease,
): Promise<ReleaseFile[]> {
  if ((await sha256(packed)) !== wanted)
    throw new ReleaseDamagedError('its bytes do not have the hash of its record');
  let archive: Buffer;
  try {
    // One byte at least, because zlib takes no other limit.
    archive = await unzip(packed, { maxOutputLength: Math.max(1, bytes) });
  } catch {
    throw new ReleaseDamagedError('it cannot be unpacked');
  }
  const start = archive.length < HEAD_LENGTH ? NaN : HEAD_LENGTH + archive.readUInt32LE(0);
  if (!(start <= archive.length)) throw new ReleaseDamagedError('it is cut short');
  const files: ReleaseFile[] = [];
  let at = start;
  for (const { path, size, hash } of readHead(archive.toString('utf8', HEAD_LENGTH, start))) {
    const content = archive.subarray(at, (at += size));
    if (!isReleasePath(path))
      throw new ReleaseDamagedError(`the path ${JSON.stringify(path)} is not allowed`);
    if (content.length !== size || (await sha256(content)) !== hash)
      throw new ReleaseDamagedError(`${path} does not have its hash`);
    files.push({ path, content });
  }
  return files;
}

function readHead(text: string): { readonly path: string; readonly size: number; readonly hash: string }[] {
  let head: { readonly format?: unknown; readonly files?: unknown } | null;
  try {
    head = JSON.parse(text) as typeof head;
  } catch {
    head = null;
  }
  if (head?.format !== FORMAT || !Array.isArray(head.files))
    throw new ReleaseDamagedError('its list of files cannot be read');
  return head.files.map((one: unknown) => {
    const [path, size, hash] = Array.isArray(one) ? (one as unknown[]) : [];
    if (
      typeof path !== 'string' ||
      typeof hash !== 'string' ||
      !Number.isSafeInteger(size) ||
      Number(size) < 0
    )
      throw new ReleaseDamagedError('its list of files cannot be read');
    return { path, size: Number(size), hash };
  });
}

/** webcrypto works outside the event loop. */
async function sha256(content: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', content)).toString('hex');
}
