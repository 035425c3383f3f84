import { layoutIdOf, decodeEntity } from './codec/entity-record.js';
import {
  decodeSegment,
  recordForgetTime,
  SEGMENT_BODY,
  segmentsOf,
  type Segment,
} from './codec/feature-record.js';
import { decodeCounters, isCounterRecordOfOtherFormat } from './codec/counter-record.js';
import { decodeHistory, isOfOtherFormat } from './codec/history-record.js';
import { parseLayout, type RecordLayout } from './codec/record-layout.js';
import { expiryOf } from './codec/versioned-record.js';
import { decodeEventCodes } from './event-codes.js';
import { eventCodesKey, partsOf } from './keys.js';

/** The result of checking one record. */
export interface CheckedRecord {
  /** The names under which the record is counted: `product entities`, `rows of product_stats`. */
  readonly counted: readonly string[];
  /** Why the record cannot be read; undefined if it can. */
  readonly problem: string | undefined;
}

/** The layouts of a store, by hex id. */
export type Layouts = ReadonlyMap<string, RecordLayout>;

const NO_LAYOUT = '0000000000000000';

/** Decodes the layout at a key; undefined if the key is not a layout key, or the layout is damaged. */
export function layoutAtKey(key: string, record: Buffer): RecordLayout | undefined {
  const parts = partsOf(key);
  if (parts?.kind !== 'layout') return undefined;
  try {
    const layout = parseLayout(record.toString());
    return layout.hex === parts.id ? layout : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks one record: decodes all of it with the decoders that rankings use.
 * @param viewNames names of views by the hex of their `viewId`; a view that is not in the map is reported by its id
 */
export function checkRecord(
  key: string,
  record: Buffer,
  layouts: Layouts,
  viewNames: ReadonlyMap<string, string>,
): CheckedRecord {
  const parts = partsOf(key);
  if (parts === undefined) return { counted: ['other keys'], problem: 'the key is not one of Millrace' };
  const { kind, prefix, type, id } = parts;
  switch (kind) {
    case 'layout':
      return {
        counted: ['layouts'],
        problem:
          layoutAtKey(key, record) === undefined ? 'the layout is damaged or of a later version' : undefined,
      };
    case 'entity':
      return { counted: [`${type} entities`], problem: entityProblem(record, layouts, id) };
    case 'meta':
      return { counted: ['records of the store itself'], problem: metaProblem(key, prefix, record) };
    case 'history':
      return { counted: [`${type} interactions`], problem: historyProblem(record) };
    case 'counters':
      return { counted: [`${type === '' ? 'global' : type} counters`], problem: counterProblem(record) };
    case 'marks':
      return { counted: ['remembered events'], problem: undefined };
    case 'features':
      return checkFeatures(record, layouts, viewNames);
  }
}

/** The time when a record expires, epoch milliseconds; Infinity if it never expires. */
export function expiryAt(key: string, record: Buffer): number {
  const kind = partsOf(key)?.kind;
  if (kind === 'history' || kind === 'counters' || kind === 'marks') return expiryOf(record);
  return kind === 'features' ? recordForgetTime(record) : Infinity;
}

function entityProblem(record: Buffer, layouts: Layouts, id: string): string | undefined {
  const hex = layoutIdOf(record);
  if (hex === undefined) return 'the record is cut short';
  const layout = layouts.get(hex);
  if (layout === undefined) return `the store does not have its layout ${hex}`;
  return problemOf(() => decodeEntity(record, layout, id));
}

function metaProblem(key: string, prefix: string, record: Buffer): string | undefined {
  if (key !== eventCodesKey(prefix) || decodeEventCodes(record) !== undefined) return undefined;
  return 'the codes of kinds of feedback are damaged or of a later version';
}

function historyProblem(record: Buffer): string | undefined {
  if (isOfOtherFormat(record)) return 'the history has a format of another version';
  return decodeHistory(record) === undefined ? 'the history is damaged' : undefined;
}

function counterProblem(record: Buffer): string | undefined {
  if (isCounterRecordOfOtherFormat(record)) return 'the counters have a format of another version';
  return decodeCounters(record) === undefined ? 'the counters are damaged' : undefined;
}

function checkFeatures(
  record: Buffer,
  layouts: Layouts,
  viewNames: ReadonlyMap<string, string>,
): CheckedRecord {
  const counted: string[] = [];
  let problem: string | undefined;
  let at = 0;
  for (const segment of segmentsOf(record)) {
    const view = record.toString('hex', segment.start + 4, segment.start + 12);
    const isDeletion = segment.layoutId === NO_LAYOUT;
    counted.push(isDeletion ? 'deleted rows' : `rows of ${viewNames.get(view) ?? `view ${view}`}`);
    if (record.readUInt32LE(segment.start) !== segment.end - segment.start)
      problem ??= 'a length in the record is wrong';
    else if (!isDeletion) problem ??= segmentProblem(record, segment, layouts);
    else if (segment.end - segment.start !== SEGMENT_BODY + 8)
      problem ??= 'a deletion in the record is damaged';
    at = segment.end;
  }
  if (at !== record.length || at === 0) problem ??= 'the record is cut short';
  return { counted: counted.length === 0 ? ['feature records'] : counted, problem };
}

function segmentProblem(record: Buffer, segment: Segment, layouts: Layouts): string | undefined {
  if (!Number.isFinite(segment.eventTime)) return 'an event time is not a number';
  const layout = layouts.get(segment.layoutId);
  if (layout === undefined) return `the store does not have the layout ${segment.layoutId}`;
  return problemOf(() => decodeSegment(record, segment, layout));
}

function problemOf(decode: () => unknown): string | undefined {
  try {
    decode();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
