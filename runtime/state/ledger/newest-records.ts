import { Float64Column } from '../../ground/core/columns.js';
import { readPieces } from '../../ground/core/stored-files.js';
import { readReport, type ReadReport } from './frame-splitter.js';
import type { DecodedRecord } from './record-decoder.js';
import type { RecordPlace, RecordPlaces } from './record-places.js';
import { readRecords } from './record-reader.js';
import { segmentFiles, segmentPaths } from '../../ground/sdk/segments.js';

/** What is kept of records, a row for each. */
export interface KeptRows<T> {
  push(kept: T): void;
  /** Keeps these rows only, in this order. */
  keep(order: Uint32Array): void;
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
  pick: (record: DecodedRecord) => T | undefined,
  report: ReadReport = readReport(),
): Promise<T[]> {
  let found: T[] = [];
  await keepNewest(source, most, pick, report, {
    push: (one) => found.push(one),
    keep: (order) => {
      const all = found;
      found = Array.from(order).flatMap((row) => all[row] ?? []);
    },
  });
  return found;
}

/** As `newestRecords`, for so many that the caller keeps them in columns. */
export async function keepNewest<T extends { readonly time: number }>(
  source: string,
  most: number,
  pick: (record: DecodedRecord, place: RecordPlace) => T | undefined,
  report: ReadReport,
  rows: KeptRows<T>,
): Promise<void> {
  const times = new Float64Column();
  const prune = (): void => {
    const order = Uint32Array.from({ length: times.length }, (_, row) => row)
      .sort((a, b) => times.at(a) - times.at(b))
      .slice(-most);
    times.keep(order);
    rows.keep(order);
  };
  for (const path of await newestFirst(source)) {
    let number = 0;
    for await (const record of readRecords(readPieces(path), report)) {
      const picked = pick(record, { path, number: number++ });
      if (picked !== undefined) {
        times.push(picked.time);
        rows.push(picked);
      }
      if (times.length > 2 * most + 1000) prune();
    }
    if (times.length >= most) break;
  }
  prune();
}

/**
 * Reads records again, one at a time, so that a command need not hold them. Those of a segment come together.
 * @returns each record with its row in `places`
 */
export async function* readAgain(
  places: RecordPlaces,
): AsyncGenerator<readonly [at: number, record: DecodedRecord], void> {
  for (const [path, own] of places.bySegment()) {
    const rows = new Map(Array.from(own, (row) => [places.numberAt(row), row]));
    let number = 0;
    for await (const record of readRecords(readPieces(path))) {
      const row = rows.get(number++);
      if (row !== undefined) yield [row, record];
    }
  }
}

async function newestFirst(source: string): Promise<readonly string[]> {
  const files = await segmentFiles(source);
  return files.length === 0 ? await segmentPaths(source) : files.reverse().map(({ path }) => path);
}
