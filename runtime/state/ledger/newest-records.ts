import { createReadStream } from 'node:fs';
import { readReport, type ReadReport } from './frame-splitter.js';
import type { DecodedRecord } from './record-decoder.js';
import { readRecords } from './record-reader.js';
import { segmentFiles, segmentPaths } from '../../ground/sdk/segments.js';

/**
 * Finds the newest records of a ledger. It reads the segments that were written to last first, and stops when it has enough.
 * @param source a folder with segments, or one segment
 * @param most how many to return
 * @param pick what to keep of a record, with its time; undefined if it is not wanted
 * @returns the newest by their times, oldest first
 */
export async function newestRecords<T extends { readonly time: number }>(
  source: string,
  most: number,
  pick: (record: DecodedRecord) => T | undefined,
  report: ReadReport = readReport(),
): Promise<T[]> {
  let found: T[] = [];
  for (const path of await newestFirst(source)) {
    for await (const record of readRecords(createReadStream(path), report)) {
      const picked = pick(record);
      if (picked !== undefined) found.push(picked);
      if (found.length > 2 * most + 1000) found = newest(found, most);
    }
    if (found.length >= most) break;
  }
  return newest(found, most);
}

async function newestFirst(source: string): Promise<readonly string[]> {
  const files = await segmentFiles(source);
  return files.length === 0 ? await segmentPaths(source) : files.reverse().map(({ path }) => path);
}

function newest<T extends { readonly time: number }>(items: readonly T[], most: number): T[] {
  return [...items].sort((a, b) => a.time - b.time).slice(-most);
}
