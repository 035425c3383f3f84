import { open, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { segmentPaths } from '../../ground/sdk/segments.js';
import { FrameSplitter, type ReadReport } from './frame-splitter.js';
import { RecordDecoder, type DecodedRecord } from './record-decoder.js';

const CHUNK_BYTES = 1 << 20;
const POLL_MS = 200;

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
  while (!signal.aborted) {
    let found = false;
    const paths = await pathsOf(sources);
    if (paths === undefined) {
      await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const present = new Set(paths);
    for (const path of tails.keys()) if (!present.has(path)) tails.delete(path);
    for (const path of paths) {
      if (!tails.has(path) && (await writtenAt(path)) < since) continue;
      const tail = tails.get(path) ?? new SegmentTail(path, report);
      tails.set(path, tail);
      for await (const record of tail.read()) {
        found = true;
        yield record;
      }
    }
    if (!found) await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined if a folder was removed meanwhile: a writer deletes old days, and makes the folder again when it needs it. */
async function pathsOf(sources: readonly string[]): Promise<string[] | undefined> {
  try {
    return (await Promise.all(sources.map((source) => segmentPaths(source)))).flat();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Epoch milliseconds; -Infinity for a segment that was removed meanwhile. */
async function writtenAt(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? -Infinity;
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
    const file = await open(this.#path).catch(() => undefined);
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
