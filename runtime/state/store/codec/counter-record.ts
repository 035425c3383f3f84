/**
 * The record of the counters of one entity:
 *
 *   16 bytes  head of versioned-record.ts
 *   u8        format, 2
 *   u8        0
 *   u16       number of marks
 *   u32       until when ids are remembered beside the record, epoch seconds
 *   marks     12 bytes each: an id (8 bytes), and the time of the event in epoch seconds (u32)
 *   series    until the end
 *
 * A series is a head of 16 bytes (id of 8 bytes, u32 expiry in epoch seconds, u16 length of the body, u8 kind, u8 width)
 * and a body:
 *
 *   buckets   u32 newest epoch, u8 count, count × u8 how much older each bucket is, ascending; then for each the sum of it and all
 *             newer buckets: u32 (width 4) or f64 (width 8). A reader needs one of these sums.
 *   decay     f64 value at a time, f64 that time
 *   last      f64 time
 *   distinct  buckets of width 4, whose sums are the numbers of distinct values; then for each value, newest first: u32 hash,
 *             u8 how much older the newest bucket is that has it; width 1: a sketch, otherwise exact
 */
import { newVersioned, VERSIONED_HEAD } from './versioned-record.js';

const FORMAT = 2;
const MARKS_AT = VERSIONED_HEAD + 8;
/** Length of a mark. */
export const MARK_BYTES = 12;

/** Length of the head of a series. */
export const SERIES_HEAD = 16;

/** The kinds of series, by their number in the record. */
export const SeriesKind = { buckets: 0, decay: 1, last: 2, distinct: 3 } as const;

/** One series as stored. */
export interface StoredSeries {
  readonly low: number;
  readonly high: number;
  /** Epoch seconds. */
  readonly expires: number;
  readonly kind: number;
  readonly width: number;
  readonly body: Buffer;
}

export interface CounterRecord {
  /** The ids of events that the record has counted, as in the record. */
  readonly marks: Buffer;
  /** Until when ids are remembered beside the record, epoch seconds; 0 if none are. */
  readonly markedUntil: number;
  readonly series: readonly StoredSeries[];
}

export const NO_COUNTERS: CounterRecord = { marks: Buffer.alloc(0), markedUntil: 0, series: [] };

/** True if a record has the format of another version of Millrace. */
export function isCounterRecordOfOtherFormat(record: Buffer): boolean {
  return record.length > VERSIONED_HEAD && record[VERSIONED_HEAD] !== FORMAT;
}

/** Undefined if the record is damaged. */
export function decodeCounters(record: Buffer): CounterRecord | undefined {
  if (record.length < MARKS_AT || record[VERSIONED_HEAD] !== FORMAT) return undefined;
  const count = record.readUInt16LE(VERSIONED_HEAD + 2);
  const markedUntil = record.readUInt32LE(VERSIONED_HEAD + 4);
  let at = MARKS_AT + count * MARK_BYTES;
  if (at > record.length) return undefined;
  const marks = record.subarray(MARKS_AT, at);
  const series: StoredSeries[] = [];
  while (at < record.length) {
    if (at + SERIES_HEAD > record.length) return undefined;
    const length = record.readUInt16LE(at + 12);
    const body = at + SERIES_HEAD;
    if (body + length > record.length) return undefined;
    series.push({
      low: record.readInt32LE(at),
      high: record.readInt32LE(at + 4),
      expires: record.readUInt32LE(at + 8),
      kind: record[at + 14] ?? 0,
      width: record[at + 15] ?? 0,
      body: record.subarray(body, body + length),
    });
    at = body + length;
  }
  return { marks, markedUntil, series };
}

/** @param expires when the record may be dropped, epoch milliseconds */
export function encodeCounters({ marks, markedUntil, series }: CounterRecord, expires: number): Buffer {
  let bodies = 0;
  for (const { body } of series) bodies += SERIES_HEAD + body.length;
  const record = newVersioned(MARKS_AT + marks.length + bodies, expires);
  record[VERSIONED_HEAD] = FORMAT;
  record.writeUInt16LE(marks.length / MARK_BYTES, VERSIONED_HEAD + 2);
  record.writeUInt32LE(markedUntil, VERSIONED_HEAD + 4);
  record.set(marks, MARKS_AT);
  let at = MARKS_AT + marks.length;
  for (const { low, high, expires: ends, kind, width, body } of series) {
    record.writeInt32LE(low, at);
    record.writeInt32LE(high, at + 4);
    record.writeUInt32LE(ends, at + 8);
    record.writeUInt16LE(body.length, at + 12);
    record[at + 14] = kind;
    record[at + 15] = width;
    record.set(body, at + SERIES_HEAD);
    at += SERIES_HEAD + body.length;
  }
  return record;
}

/**
 * The offset of the first series in a record that lies in memory from `start` to `end`; -1 if there is no such record.
 */
export function seriesStart(memory: Buffer, start: number, end: number): number {
  if (end - start < MARKS_AT || memory[start + VERSIONED_HEAD] !== FORMAT) return -1;
  return start + MARKS_AT + memory.readUInt16LE(start + VERSIONED_HEAD + 2) * MARK_BYTES;
}
