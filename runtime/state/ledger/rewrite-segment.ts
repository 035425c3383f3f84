import { open, rename, rm, rmdir, stat, unlink, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObjectPath, readPieces, removeObject, writeObject } from '../../ground/core/stored-files.js';
import { At, FrameKind } from './format.js';
import { FrameSplitter, readReport, type ReadReport } from './frame-splitter.js';
import { RecordDecoder, type DecodedRecord } from './record-decoder.js';

const CHUNK_BYTES = 1 << 20;

export interface Rewritten {
  readonly removed: number;
  /** Frames of a newer version of Millrace, which stay as they are. */
  readonly unread: number;
}

/**
 * Removes records from a segment that nobody writes to. The rest is written to another file, which then takes the place of
 * the segment; so a reader finds the old one or the new one. Damaged frames are removed as well. A segment without anything
 * to remove is not touched; one without any record left is deleted.
 */
export async function rewriteSegment(
  path: string,
  isRemoved: (record: DecodedRecord) => boolean,
): Promise<Rewritten> {
  const report = readReport();
  let removed = 0;
  let kept = 0;
  for await (const { frame, record } of framesOf(path, report)) {
    if (record !== undefined && isRemoved(record)) removed++;
    else if (frame[At.frameKind] !== FrameKind.schema) kept++;
  }
  const { torn, damaged, skipped } = report;
  if (removed + torn + damaged > 0) await (kept === 0 ? remove(path) : replace(path, isRemoved));
  return { removed, unread: skipped };
}

async function replace(path: string, isRemoved: (record: DecodedRecord) => boolean): Promise<void> {
  if (isObjectPath(path)) {
    const pieces: Buffer[] = [];
    await copyRest(path, (piece) => Promise.resolve(void pieces.push(piece)), isRemoved);
    await writeObject(path, Buffer.concat(pieces));
    return;
  }
  const { atime, mtime, mode } = await stat(path);
  const other = `${path}.rewrite`;
  await rm(other, { force: true }); // a killed call left it, and it may be read-only
  const file = await open(other, 'w', mode);
  try {
    await copyRest(path, (piece) => file.appendFile(piece), isRemoved);
    await file.sync();
    await file.close();
    await utimes(other, atime, mtime); // retention goes by the time of the last record
    await rename(other, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await unlink(other).catch(() => undefined);
    throw error;
  }
}

async function copyRest(
  path: string,
  append: (piece: Buffer) => Promise<void>,
  isRemoved: (record: DecodedRecord) => boolean,
): Promise<void> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  const write = async (): Promise<void> => {
    await append(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  };
  for await (const { frame, record } of framesOf(path, readReport())) {
    if (record !== undefined && isRemoved(record)) continue;
    waiting.push(frame);
    bytes += frame.length;
    if (bytes >= CHUNK_BYTES) await write();
  }
  await write();
}

async function remove(path: string): Promise<void> {
  if (isObjectPath(path)) {
    await removeObject(path);
    return;
  }
  await unlink(path);
  await rmdir(dirname(path)).catch(() => undefined); // fails while the day has other segments
}

async function* framesOf(
  path: string,
  report: ReadReport,
): AsyncGenerator<{ readonly frame: Buffer; readonly record: DecodedRecord | undefined }, void> {
  const splitter = new FrameSplitter(report);
  const decoder = new RecordDecoder(report);
  for await (const chunk of readPieces(path, CHUNK_BYTES))
    for (const frame of splitter.push(chunk)) yield { frame, record: decoder.decode(frame) };
  splitter.end();
}
