import { access, constants, promises } from 'node:fs';
import { mkdir, open, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  closeMark,
  SEALED_MODE,
  SEGMENT_BYTES,
  SEGMENT_MS,
  segmentFiles,
  ProbeError,
  segmentPath,
  SinkError,
  type RecordBatch,
  type ServerProbe,
  type Sink,
} from 'millrace/api';

interface SegmentWriterOptions {
  /** The start of the names of its segments: the process, and the sink if the process has several. */
  readonly writer: string;
  readonly folder: string;
  /** A segment that was last written to longer ago is deleted. */
  readonly keepMs: number;
  /** The segments of the folder have at most so many bytes; the oldest are deleted first. */
  readonly bytes: number;
}

interface Segment {
  readonly file: FileHandle;
  readonly path: string;
  /** The ids of the schemas that it has. */
  readonly schemas: Set<string>;
  readonly openedAt: number;
  bytes: number;
}

/** The disk, a quota or the largest size of a file is reached. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Writes segments into a folder. A batch is written whole or not at all: what a failed write left of it is cut off, so that a
 * reader finds whole frames up to the end.
 */
export class SegmentWriter implements Sink {
  readonly probe: ServerProbe;
  readonly #options: SegmentWriterOptions;
  #segment: Segment | undefined;
  #number = 0;
  #ageTimer: NodeJS.Timeout | undefined;
  /** Batches and rotations run one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
    this.probe = { server: options.folder, ask: () => askFolder(options.folder) };
  }

  write(batch: RecordBatch): Promise<void> {
    return this.#inTurn(() => this.#append(batch));
  }

  rotate(): Promise<void> {
    return this.#inTurn(() => this.#closeSegment());
  }

  close(): Promise<void> {
    return this.rotate();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #append(batch: RecordBatch): Promise<void> {
    const segment = await this.#currentSegment();
    const fresh = [...batch.schemas()].filter(([id]) => !segment.schemas.has(id));
    const frames = [...fresh.map(([, frame]) => frame), ...batch.frames().map(({ bytes }) => bytes)];
    const before = segment.bytes;
    try {
      await writeWhole(segment, joined(frames));
      for (const [id] of fresh) segment.schemas.add(id);
    } catch (error) {
      await this.#cutBack(segment, before);
      throw failure(error, segment.path);
    }
  }

  async #currentSegment(): Promise<Segment> {
    const now = Date.now();
    const current = this.#segment;
    const isUsable = current !== undefined && !isFull(current, now) && !(await mustClose(current));
    if (isUsable && !(await isDeleted(current))) return current;
    await this.#closeSegment();
    await this.#deleteOld(now);
    const segment = await this.#openSegment(now);
    this.#segment = segment;
    // A segment that nobody writes to is closed as well, so that others may read, move or delete it.
    this.#ageTimer = setTimeout(() => void this.rotate().catch(() => undefined), SEGMENT_MS);
    this.#ageTimer.unref();
    return segment;
  }

  async #openSegment(now: number): Promise<Segment> {
    for (;;) {
      const path = segmentPath(this.#options.folder, this.#options.writer, ++this.#number, now);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
        throw failure(error, path);
      });
      try {
        const file = await open(path, 'wx', 0o600);
        return { file, path, schemas: new Set<string>(), openedAt: now, bytes: 0 };
      } catch (error) {
        // The sink before a reload has that number.
        if (codeOf(error) !== 'EEXIST') throw failure(error, path);
      }
    }
  }

  /** Leaves the segment as it was before a batch. If that fails too, it ends with a torn frame, and another one follows. */
  async #cutBack(segment: Segment, bytes: number): Promise<void> {
    try {
      await segment.file.truncate(bytes);
      segment.bytes = bytes;
    } catch {
      await this.#closeSegment();
    }
  }

  async #closeSegment(): Promise<void> {
    clearTimeout(this.#ageTimer);
    const segment = this.#segment;
    this.#segment = undefined;
    if (segment === undefined) return;
    // Where a file system has no modes, the segment counts as closed after an hour.
    await segment.file.chmod(SEALED_MODE).catch(() => undefined);
    await segment.file.close().catch(() => undefined);
    await unlink(closeMark(segment.path)).catch(() => undefined);
    if (segment.bytes === 0) await unlink(segment.path).catch(() => undefined);
  }

  async #deleteOld(now: number): Promise<void> {
    const { folder, keepMs, bytes: most } = this.#options;
    const files = await segmentFiles(folder, now).catch(() => []);
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files) {
      const isOld = now - file.writtenAt > keepMs;
      if (!file.isClosed || (!isOld && bytes <= most)) continue;
      bytes -= file.bytes;
      await unlink(file.path).catch(() => undefined);
      await unlink(closeMark(file.path)).catch(() => undefined);
      await rmdir(dirname(file.path)).catch(() => undefined); // fails while the day has other segments
    }
  }
}

function isFull({ bytes, openedAt }: Segment, now: number): boolean {
  return bytes >= SEGMENT_BYTES || now - openedAt >= SEGMENT_MS;
}

/** True if another process asks for it. */
function mustClose({ path }: Segment): Promise<boolean> {
  // The promise of `access` would make an error with a stack for each batch, which costs as much as three requests.
  return new Promise((resolve) => {
    access(closeMark(path), (error) => resolve(error === null));
  });
}

/** True if nobody could read what would be written to it. */
async function isDeleted({ file }: Segment): Promise<boolean> {
  const { nlink } = await file.stat();
  return nlink === 0;
}

/** Frames that are neighbours in memory become one piece. Nothing is copied. */
function joined(frames: readonly Uint8Array[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (const frame of frames) {
    const last = pieces.at(-1);
    if (last?.buffer === frame.buffer && last.byteOffset + last.length === frame.byteOffset)
      pieces[pieces.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.length + frame.length);
    else pieces.push(frame);
  }
  return pieces;
}

async function writeWhole(segment: Segment, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const { bytesWritten } = await segment.file.write(piece, at, piece.length - at, segment.bytes);
      at += bytesWritten;
      segment.bytes += bytesWritten;
    }
  }
}

/** After an error other than a full disk, the runtime writes the same batch again. */
function failure(error: unknown, path: string): SinkError {
  const options = { cause: error };
  return FULL.has(codeOf(error))
    ? new SinkError(`no room for ${path}`, { ...options, lost: 'disk_full' })
    : new SinkError(`cannot write ${path}`, options);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whether segments can be written into a folder, or into the folder that it will be made in. */
async function askFolder(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await promises.access(path, constants.W_OK);
      return path === folder ? 'the folder can be written to' : 'the folder is made with the first record';
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && path !== dirname(path);
      if (!isMissing)
        throw new ProbeError(
          `${path} cannot be written to`,
          'change its permissions, or `ledger: dir` in millrace.yaml',
        );
    }
  }
}
