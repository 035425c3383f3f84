import { createReadStream } from 'node:fs';
import { readReport, type ReadReport } from './frame-splitter.js';
import type { DecodedRecord } from './record-decoder.js';
import { readRecords } from './record-reader.js';
import { groupBy } from '../../ground/core/group-by.js';
import { segmentFiles, segmentPaths } from '../../ground/sdk/segments.js';

/** Where a record is in a ledger. */
export interface RecordPlace {
  readonly path: string;
  /** Its number among the records of the segment that can be read. */
  readonly number: number;
}

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
  pick: (record: DecodedRecord, place: RecordPlace) => T | undefined,
  report: ReadReport = readReport(),
): Promise<T[]> {
  let found: T[] = [];
  for (const path of await newestFirst(source)) {
    let number = 0;
    for await (const record of readRecords(createReadStream(path), report)) {
      const picked = pick(record, { path, number: number++ });
      if (picked !== undefined) found.push(picked);
      if (found.length > 2 * most + 1000) found = newest(found, most);
    }
    if (found.length >= most) break;
  }
  return newest(found, most);
}

/**
 * Reads records again, one at a time, so that a command need not hold them. Those of a segment come together.
 * @returns each record with its index in `places`
 */
export async function* readAgain(
  places: readonly RecordPlace[],
): AsyncGenerator<readonly [at: number, record: DecodedRecord], void> {
  for (const [path, own] of groupBy(places.keys(), (at) => places[at]?.path ?? '')) {
    const indexes = new Map(own.map((at) => [places[at]?.number, at]));
    let number = 0;
    for await (const record of readRecords(createReadStream(path))) {
      const at = indexes.get(number++);
      if (at !== undefined) yield [at, record];
    }
  }
}

async function newestFirst(source: string): Promise<readonly string[]> {
  const files = await segmentFiles(source);
  return files.length === 0 ? await segmentPaths(source) : files.reverse().map(({ path }) => path);
}

function newest<T extends { readonly time: number }>(items: readonly T[], most: number): T[] {
  return [...items].sort((a, b) => a.time - b.time).slice(-most);
}
