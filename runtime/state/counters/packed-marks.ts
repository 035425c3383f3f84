/**
 * Ids of counted events as bytes: in a record as marks, each an id and the time of its event; beside it as ids alone. Objects
 * for each of them would be most of the garbage of counting.
 */
import { MARK_BYTES } from '../store/codec/counter-record.js';
import { uint32At } from '../store/codec/numbers-at.js';
import { MARK_ID_BYTES } from '../store/store.js';
import type { Touch } from './apply-touches.js';

/** The marks of events that are not older than a time. @param since epoch seconds */
export function liveMarks(marks: Buffer, since: number): Buffer {
  const isLive = (at: number): boolean => uint32At(marks, at + MARK_ID_BYTES) >= since;
  let old = 0;
  for (let at = 0; at < marks.length; at += MARK_BYTES) if (!isLive(at)) old++;
  if (old === 0) return marks;
  const live = Buffer.allocUnsafe(marks.length - old * MARK_BYTES);
  let end = 0;
  for (let at = 0; at < marks.length; at += MARK_BYTES)
    if (isLive(at)) end += marks.copy(live, end, at, at + MARK_BYTES);
  return live;
}

export function hasMark(marks: Buffer, identity: Touch['identity']): boolean {
  for (let at = 0; at < marks.length; at += MARK_BYTES)
    if (uint32At(marks, at) === identity[0] && uint32At(marks, at + 4) === identity[1]) return true;
  return false;
}

export function packIds(identities: readonly Touch['identity'][]): Buffer {
  const ids = Buffer.allocUnsafe(identities.length * MARK_ID_BYTES);
  let at = 0;
  for (const [low, high] of identities) at = ids.writeUInt32LE(high, ids.writeUInt32LE(low, at));
  return ids;
}
