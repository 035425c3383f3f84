import { mkdir, open, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RecordKind } from './record-schema.js';
import { SinkFailure, type RecordBatch, type RecordSink } from './record-sink.js';
import { dayFolder, SEGMENT_BYTES, SEGMENT_MS, segmentFiles, segmentPath } from './segments.js';

export interface FileSinkOptions {
  readonly name: string;
  readonly takes: readonly RecordKind[];
  readonly queueBytes: number;
  readonly folder: string;
  /** A segment that was last written to longer ago is deleted. */
  readonly keepMs: number;
  /** The segments of the folder have at most so many bytes; the oldest are deleted first. */
  readonly bytes: number;
}

interface Segment {
  readonly file: FileHandle;
  readonly path: string;
  readonly schemas: Set<string>;
  readonly openedAt: number;
  bytes: number;
}

/** These mean that the disk, a quota or a limit of the file size is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Writes segments into a folder. `write` returns when the bytes are with the operating system: they survive the process, and
 * not a power loss. A batch is written whole or not at all; what a full disk left of it is cut off.
 */
export class FileSink implements RecordSink {
  readonly name: string;
  readonly takes: readonly RecordKind[];
  readonly queueBytes: number;
  readonly #options: FileSinkOptions;
  #segment: Segment | undefined;
  #number = 0;
  #ageTimer: NodeJS.Timeout | undefined;
  /** Writes, rotations and the deletion of old segments run one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.name = options.name;
    this.takes = options.takes;
    this.queueBytes = options.queueBytes;
  }

  write(batch: RecordBatch): Promise<void> {
    return this.#inTurn(() => this.#append(batch));
  }

  /** Closes the segment that is being written. The next batch starts another. */
  rotate(): Promise<void> {
    return this.#inTurn(() => this.#closeSegment());
  }

  close(): Promise<void> {
    return this.rotate();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #append(batch: RecordBatch): Promise<void> {
    const segment = await this.#segmentFor(batch);
    const fresh = batch.schemas.filter(({ schema }) => !segment.schemas.has(schema.id));
    const parts = [...fresh.map(({ frame }) => frame), batch.frames];
    const before = segment.bytes;
    try {
      for (const part of parts) await writeWhole(segment, part);
      for (const { schema } of fresh) segment.schemas.add(schema.id);
    } catch (error) {
      await this.#cutBack(segment, before);
      throw failure(error, segment.path);
    }
  }

  async #segmentFor(batch: RecordBatch): Promise<Segment> {
    const now = Date.now();
    const current = this.#segment;
    if (current !== undefined && !isFull(current, now)) return current;
    await this.#closeSegment();
    const path = segmentPath(this.#options.folder, batch.instance, ++this.#number, now);
    try {
      await this.#deleteOld(now);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, 'wx', 0o600);
      const segment = { file, path, schemas: new Set<string>(), openedAt: now, bytes: 0 };
      this.#segment = segment;
      this.#ageTimer = setTimeout(() => void this.rotate(), SEGMENT_MS);
      this.#ageTimer.unref();
      return segment;
    } catch (error) {
      throw failure(error, path);
    }
  }

  /** Leaves the segment as it was before a batch; if that fails too, the segment ends here. */
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
    await segment?.file.close();
    if (segment?.bytes === 0) await unlink(segment.path).catch(() => undefined);
  }

  async #deleteOld(now: number): Promise<void> {
    const files = await segmentFiles(this.#options.folder, now).catch(() => []);
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files) {
      const isOld = now - file.writtenAt > this.#options.keepMs;
      if (!file.isClosed || (!isOld && bytes <= this.#options.bytes)) continue;
      bytes -= file.bytes;
      await unlink(file.path).catch(() => undefined);
      await rmdir(dayFolder(file.path)).catch(() => undefined);
    }
  }
}

async function writeWhole(segment: Segment, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await segment.file.write(bytes, at, bytes.length - at, segment.bytes);
    at += bytesWritten;
    segment.bytes += bytesWritten;
  }
}

function failure(error: unknown, path: string): SinkFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = FULL.has(code) ? 'disk_full' : 'failed';
  return new SinkFailure(reason, `cannot write the ledger to ${path}`, { cause: error });
}

function isFull({ bytes, openedAt }: Segment, now: number): boolean {
  return bytes >= SEGMENT_BYTES || now - openedAt >= SEGMENT_MS;
}
