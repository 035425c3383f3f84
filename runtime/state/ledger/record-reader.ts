import { FrameSplitter, readReport, type ReadReport } from './frame-splitter.js';
import { RecordDecoder, type DecodedRecord } from './record-decoder.js';
import { readPieces } from '../../ground/core/stored-files.js';
import { segmentPaths } from '../../ground/sdk/segments.js';

const CHUNK_BYTES = 1 << 20;

/**
 * Reads the records of segments, in the order of their files' paths.
 * @param source a file, a folder with segments at any depth, s3://bucket/prefix, or bytes that start like a segment
 * @param report counts what was read and what could not be read
 */
export async function* readRecords(
  source: string | AsyncIterable<Uint8Array>,
  report: ReadReport = readReport(),
): AsyncGenerator<DecodedRecord, void> {
  if (typeof source !== 'string') return yield* readSegment(source, report);
  for (const file of await segmentPaths(source)) {
    yield* readSegment(readPieces(file, CHUNK_BYTES), report);
  }
}

/** Reads the records of a batch or of a segment that is in memory. */
export function* readBytes(
  bytes: Uint8Array,
  report: ReadReport = readReport(),
): Generator<DecodedRecord, void> {
  const splitter = new FrameSplitter(report);
  const decoder = new RecordDecoder(report);
  for (const frame of splitter.push(bytes)) {
    const record = decoder.decode(frame);
    if (record !== undefined) yield record;
  }
  splitter.end();
}

async function* readSegment(
  chunks: AsyncIterable<Uint8Array>,
  report: ReadReport,
): AsyncGenerator<DecodedRecord, void> {
  const splitter = new FrameSplitter(report);
  const decoder = new RecordDecoder(report);
  for await (const chunk of chunks) {
    for (const frame of splitter.push(chunk)) {
      const record = decoder.decode(frame);
      if (record !== undefined) yield record;
    }
    if (splitter.hasEnded) break;
  }
  splitter.end();
}
