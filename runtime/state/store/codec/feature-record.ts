import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { ByteWriter } from './bytes.js';
import type { RecordLayout } from './record-layout.js';
import { isBody, readBody, writeBody } from './packed-body.js';
import type { SegmentOutcome } from '../store.js';

/**
 * The record of the feature views of an entity or composite: segments one after another, each complete in itself.
 *
 *   u32      length of the segment, including these four bytes
 *   8 bytes  view: first 8 bytes of the SHA-256 of its name
 *   8 bytes  layout id
 *   f64      event time, epoch milliseconds
 *   body     the features (packed-body.ts)
 *
 * A deleted row leaves a tombstone, a segment that prevents older rows from being stored again:
 *
 *   u32      its length, 36
 *   8 bytes  view: as above, with every bit of the first byte inverted. A lookup of the view's row
 *            does not find it, even in a version of Millrace that does not know tombstones
 *   8 bytes  zeros, which are not a layout id
 *   f64      event time of the deletion, epoch milliseconds
 *   f64      when the tombstone may be dropped, epoch milliseconds
 *
 * A record holds a row or a tombstone of a view, never both. redis/merge-script.ts reads the same bytes.
 */

const VIEW_AT = 4;
const LAYOUT_AT = 12;
const TIME_AT = 20;
/** Offset of the body in a segment. */
export const SEGMENT_BODY = 28;
const TOMBSTONE_LENGTH = SEGMENT_BODY + 8;

/** The id of a view in segments. */
export function viewId(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 8);
}

const writer = new ByteWriter();

/**
 * Encodes one row of a view.
 * @param view its `viewId`
 * @param eventTime epoch milliseconds
 * @throws TypeError if a feature does not fit the layout
 */
export function encodeSegment(
  view: Buffer,
  layout: RecordLayout,
  eventTime: number,
  features: JsonObject,
): Buffer {
  writer.start();
  writer.zeros(VIEW_AT);
  writer.raw(view);
  writer.raw(layout.id);
  writer.double(eventTime);
  writeBody(writer, layout, features, undefined, undefined);
  writer.bytes.writeUInt32LE(writer.length, 0);
  return writer.finish();
}

/**
 * Encodes the segment that replaces a deleted row.
 * @param view its `viewId`
 * @param eventTime epoch milliseconds; rows up to this time stay deleted
 * @param forgetAt when the tombstone may be dropped, epoch milliseconds
 */
export function encodeTombstone(view: Buffer, eventTime: number, forgetAt: number): Buffer {
  const tombstone = Buffer.alloc(TOMBSTONE_LENGTH);
  tombstone.writeUInt32LE(TOMBSTONE_LENGTH, 0);
  tombstone.set(view, VIEW_AT);
  tombstone[VIEW_AT] = (view[0] as number) ^ 0xff;
  tombstone.writeDoubleLE(eventTime, TIME_AT);
  tombstone.writeDoubleLE(forgetAt, SEGMENT_BODY);
  return tombstone;
}

/** The time when the segment from `at` to `end` may be dropped, epoch milliseconds; Infinity for a row. */
function forgetTime(record: Buffer, at: number, end: number): number {
  const layout = layoutAt(at);
  const isTombstone =
    end - at >= TOMBSTONE_LENGTH && record.readInt32LE(layout) === 0 && record.readInt32LE(layout + 4) === 0;
  return isTombstone ? record.readDoubleLE(at + SEGMENT_BODY) : Infinity;
}

/** The time when all tombstones of a record may be dropped, epoch milliseconds; Infinity if the record holds a row. */
export function recordForgetTime(record: Buffer): number {
  let latest = record.length < SEGMENT_BODY ? Infinity : -Infinity;
  for (let at = 0; at + SEGMENT_BODY <= record.length && latest < Infinity;) {
    const end = segmentEnd(record, at, record.length);
    latest = Math.max(latest, forgetTime(record, at, end));
    at = end;
  }
  return latest;
}

/** The segment of a view in a record. */
export interface Segment {
  /** Offsets of its first byte and of the byte after its last one. */
  readonly start: number;
  readonly end: number;
  readonly layoutId: string;
  readonly eventTime: number;
}

/**
 * Offset of a view's segment in the record from `start` to `end`; -1 if there is none (or the record is damaged before
 * it).
 */
export function findSegment(
  record: Buffer,
  start: number,
  end: number,
  viewLow: number,
  viewHigh: number,
): number {
  let at = start;
  while (at + SEGMENT_BODY <= end) {
    if (record.readInt32LE(at + VIEW_AT) === viewLow && record.readInt32LE(at + VIEW_AT + 4) === viewHigh)
      return at;
    at = segmentEnd(record, at, end);
  }
  return -1;
}

/**
 * Offset after the segment at `at`, in a record that ends at `end`; an invalid length extends to the end of the record.
 */
export function segmentEnd(record: Buffer, at: number, end: number): number {
  const length = record.readUInt32LE(at);
  return length < SEGMENT_BODY || at + length > end ? end : at + length;
}

export function eventTimeAt(record: Buffer, at: number): number {
  return record.readDoubleLE(at + TIME_AT);
}

/** Offset of the layout id in a segment. */
export function layoutAt(at: number): number {
  return at + LAYOUT_AT;
}

/** All segments of a record, in order. */
export function segmentsOf(record: Buffer): Segment[] {
  const segments: Segment[] = [];
  const { length } = record;
  for (let at = 0; at + SEGMENT_BODY <= length; at = segmentEnd(record, at, length)) {
    segments.push(segmentAt(record, at));
  }
  return segments;
}

/** The segment at an offset of a record. */
export function segmentAt(record: Buffer, at: number): Segment {
  return {
    start: at,
    end: segmentEnd(record, at, record.length),
    layoutId: record.toString('hex', layoutAt(at), layoutAt(at) + 8),
    eventTime: eventTimeAt(record, at),
  };
}

/** Decodes the features that the row of a segment carries. @throws RangeError if the segment is damaged */
export function decodeSegment(record: Buffer, segment: Segment, layout: RecordLayout): JsonObject {
  const at = segment.start + SEGMENT_BODY;
  if (!isBody(record, at, segment.end, layout)) throw new RangeError('the segment is cut short');
  const features = Object.create(null) as Record<string, JsonValue>;
  readBody(record, at, segment.end, layout, features);
  return features;
}

/**
 * Merges a segment into a record. It replaces the row or the tombstone of the same view, unless that has a later event
 * time. A new segment goes first, so it is found even if a later one is damaged. If event times are equal, a later push
 * wins over an earlier one, and a tombstone wins over a row in any order. A row that replaces a row leaves the rest of
 * the record unchanged; in all other cases expired tombstones are dropped. The script of the Redis engine does the same
 * in the server.
 * @param now epoch milliseconds
 * @param replaces see `SegmentWrite`
 */
export function mergeSegment(
  record: Buffer | null,
  segment: Buffer,
  now: number,
  replaces?: Buffer | null,
): { readonly record: Buffer; readonly outcome: SegmentOutcome } {
  if (record === null)
    return replaces
      ? { record: Buffer.alloc(0), outcome: 'changed' }
      : { record: segment, outcome: 'stored' };
  const isRow = forgetTime(segment, 0, segment.length) === Infinity;
  const { length } = record;
  const time = eventTimeAt(segment, 0);
  if (isRow) {
    const view = [segment.readInt32LE(VIEW_AT), segment.readInt32LE(VIEW_AT + 4)] as const;
    const at = findSegment(record, 0, length, ...view);
    const found = at < 0 ? null : record.subarray(at, segmentEnd(record, at, length));
    if (replaces !== undefined && !isSame(found, replaces)) return { record, outcome: 'changed' };
    if (at >= 0 && eventTimeAt(record, at) > time) return { record, outcome: 'older' };
    if (at >= 0) {
      const pieces = [record.subarray(0, at), segment, record.subarray(segmentEnd(record, at, length))];
      return { record: Buffer.concat(pieces), outcome: 'stored' };
    }
  }
  const pieces: Buffer[] = [];
  let isPlaced = false;
  let at = 0;
  while (at + SEGMENT_BODY <= length) {
    const end = segmentEnd(record, at, length);
    const forgetAt = forgetTime(record, at, end);
    if (forgetAt > now) {
      if (!isSameView(record, at, segment)) pieces.push(record.subarray(at, end));
      else {
        const there = eventTimeAt(record, at);
        if (there > time || (there === time && isRow && forgetAt < Infinity))
          return { record, outcome: 'older' };
        if (!isPlaced) pieces.push(segment);
        isPlaced = true;
      }
    }
    at = end;
  }
  if (!isPlaced) pieces.unshift(segment);
  pieces.push(record.subarray(at));
  return { record: Buffer.concat(pieces), outcome: 'stored' };
}

function isSame(found: Buffer | null, expected: Buffer | null): boolean {
  return found === null || expected === null ? found === expected : found.equals(expected);
}

/** Whether two segments, rows or tombstones, belong to the same view. */
function isSameView(record: Buffer, at: number, segment: Buffer): boolean {
  const first = (record[at + VIEW_AT] as number) ^ (segment[VIEW_AT] as number);
  return (
    (first === 0 || first === 0xff) &&
    record.compare(segment, VIEW_AT + 1, LAYOUT_AT, at + VIEW_AT + 1, at + LAYOUT_AT) === 0
  );
}
