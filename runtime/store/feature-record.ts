import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../api/types.js';
import { ByteWriter } from './bytes.js';
import type { Layout } from './layout.js';
import { isBody, readBody, writeBody } from './packed-body.js';
import type { SegmentOutcome } from './store.js';

/**
 * The record of an entity's (or composite's) feature views: segments one after another, each whole in itself.
 *
 *   u32      length of the segment, these four bytes included
 *   8 bytes  view: first 8 bytes of the SHA-256 of its name
 *   8 bytes  layout id
 *   f64      event time, epoch milliseconds
 *   body     the features (packed-body.ts)
 *
 * redis/merge-script.ts reads the same header.
 */

const VIEW_AT = 4;
const LAYOUT_AT = 12;
const TIME_AT = 20;
/** Where the body of a segment begins. */
export const SEGMENT_BODY = 28;

/** What segments call a view. */
export function viewId(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 8);
}

const writer = new ByteWriter();

/**
 * Packs one row of a view.
 * @param view its `viewId`
 * @param eventTime epoch milliseconds
 * @throws TypeError if a feature does not fit the layout
 */
export function encodeSegment(view: Buffer, layout: Layout, eventTime: number, features: JsonObject): Buffer {
  writer.start();
  writer.zeros(VIEW_AT);
  writer.raw(view);
  writer.raw(layout.id);
  writer.double(eventTime);
  writeBody(writer, layout, features, undefined, undefined);
  writer.bytes.writeUInt32LE(writer.length, 0);
  return writer.finish();
}

/** A view's segment within a record. */
export interface Segment {
  /** Where it begins, and where it ends. */
  readonly start: number;
  readonly end: number;
  readonly layoutId: string;
  readonly eventTime: number;
}

/** Where the segment of a view begins in the record from `start` to `end`; -1 if it has none (or is damaged before it). */
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

/** Where the segment at `at` ends, of a record that ends at `end`; a damaged length ends the record. */
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

/** All segments of a record, in its order. */
export function segmentsOf(record: Buffer): Segment[] {
  const segments: Segment[] = [];
  const { length } = record;
  for (let at = 0; at + SEGMENT_BODY <= length; at = segmentEnd(record, at, length)) {
    segments.push({
      start: at,
      end: segmentEnd(record, at, length),
      layoutId: record.toString('hex', layoutAt(at), layoutAt(at) + 8),
      eventTime: eventTimeAt(record, at),
    });
  }
  return segments;
}

/** The features of a segment; those that the row does not carry are not in it. @throws RangeError if it is damaged */
export function decodeSegment(record: Buffer, segment: Segment, layout: Layout): JsonObject {
  const at = segment.start + SEGMENT_BODY;
  if (!isBody(record, at, segment.end, layout)) throw new RangeError('the segment is cut short');
  const features = Object.create(null) as Record<string, JsonValue>;
  readBody(record, at, segment.end, layout, features);
  return features;
}

/**
 * Puts a segment into a record: replaces that of the same view unless it has a later event time, or adds it in front,
 * where it is found even if what follows is damaged. Of equal event times the later push wins. What the redis engine's
 * script does in the server.
 */
export function mergeSegment(
  record: Buffer | null,
  segment: Buffer,
): { readonly record: Buffer; readonly outcome: SegmentOutcome } {
  if (record === null) return { record: segment, outcome: 'stored' };
  const { length } = record;
  const [low, high] = [segment.readInt32LE(VIEW_AT), segment.readInt32LE(VIEW_AT + 4)];
  const at = findSegment(record, 0, length, low, high);
  if (at < 0) return { record: Buffer.concat([segment, record]), outcome: 'stored' };
  if (eventTimeAt(record, at) > eventTimeAt(segment, 0)) return { record, outcome: 'older' };
  const merged = Buffer.concat([
    record.subarray(0, at),
    segment,
    record.subarray(segmentEnd(record, at, length)),
  ]);
  return { record: merged, outcome: 'stored' };
}
