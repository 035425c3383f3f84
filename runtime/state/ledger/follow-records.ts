import { setTimeout as pause } from 'node:timers/promises';
import { isObjectPath, openStored, storedFiles, type StoredFile } from '../../ground/core/stored-files.js';
import { SEGMENT_ENDING } from '../../ground/sdk/segments.js';
import { FrameSplitter, type ReadReport } from './frame-splitter.js';
import { RecordDecoder, type DecodedRecord } from './record-decoder.js';

const CHUNK_BYTES = 1 << 20;
const POLL_MS = 200;
/** Listing objects costs a request, which is paid. */
const POLL_OBJECTS_MS = 5000;

/**
 * Reads the records of segments, and then those that are added to them and to new segments, until the signal fires. A
 * frame that is not yet whole is read when its rest arrives.
 * @param sources files and folders
 * @param since epoch milliseconds: segments that were last written to before are not read. A segment that was written to
 *   later is read from its start
 */
export async function* followRecords(
  sources: readonly string[],
  report: ReadReport,
  signal: AbortSignal,
  since = -Infinity,
): AsyncGenerator<DecodedRecord, void> {
  const tails = new Map<string, SegmentTail>();
  const pollMs = sources.some(isObjectPath) ? POLL_OBJECTS_MS : POLL_MS;
  while (!signal.aborted) {
    let found = false;
    const files = await filesOf(sources);
    if (files === undefined) {
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const present = new Set(files.map(({ path }) => path));
    for (const path of tails.keys()) if (!present.has(path)) tails.delete(path);
    for (const { path, writtenAt } of files) {
      if (tails.has(path) ? isObjectPath(path) : writtenAt < since) continue;
      const tail = tails.get(path) ?? new SegmentTail(path, report);
      tails.set(path, tail);
      for await (const record of tail.read()) {
        found = true;
        yield record;
      }
    }
    if (!found) await pause(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined if a folder was removed meanwhile: a writer deletes old days, and makes the folder again when it needs it. */
async function filesOf(sources: readonly string[]): Promise<StoredFile[] | undefined> {
  try {
    return (await Promise.all(sources.map((source) => storedFiles(source, SEGMENT_ENDING)))).flat();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function ifGone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** One segment, and how far it was read. */
class SegmentTail {
  readonly #path: string;
  readonly #splitter: FrameSplitter;
  readonly #decoder: RecordDecoder;
  #at = 0;

  constructor(path: string, report: ReadReport) {
    this.#path = path;
    this.#splitter = new FrameSplitter(report);
    this.#decoder = new RecordDecoder(report);
  }

  /** The records that were added since the last call. A segment that was deleted has none. */
  async *read(): AsyncGenerator<DecodedRecord, void> {
    const file = await openStored(this.#path).catch(ifGone);
    if (file === undefined) return;
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      while (!this.#splitter.hasEnded) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, this.#at);
        if (bytesRead === 0) return;
        this.#at += bytesRead;
        for (const frame of this.#splitter.push(buffer.subarray(0, bytesRead))) {
          const record = this.#decoder.decode(frame);
          if (record !== undefined) yield record;
        }
      }
    } finally {
      await file.close();
    }
  }
}
