import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { EntityType } from '../../project/config/model/entities.js';
import { IdHasher } from '../../ground/core/id-hasher.js';
import type { Cells } from '../ledger/cells.js';
import type { DecodedRecord } from '../ledger/record-decoder.js';
import type { JsonObject } from '../ledger/record-schema.js';
import { rewriteSegment } from '../ledger/rewrite-segment.js';
import { isUnanswered } from '../../ground/core/stored-files.js';
import { closeMark, segmentFiles, segmentPaths } from '../../ground/sdk/segments.js';
import { holdsIdsOf } from './history-data.js';
import type { Forgotten, PrivacyParts, Removed } from './personal-data.js';

export const LEDGER_COUNTS = ['ledger_records', 'unreadable_ledger_records'] as const;

/** By then a record that was acknowledged before is in a segment: it waits for the flush bound at most. */
const QUEUED_MS = 500;

/** By then a batch is written whose writer did not see the mark. */
const WRITING_MS = 500;

/**
 * Removes from the segments of the file sink every record that names a forgotten entity. Segments that are being written
 * are closed first, also those of other processes. A record that is written during the call may stay.
 */
export async function forgetInLedger(
  who: Forgotten,
  { ledger, types }: Pick<PrivacyParts, 'ledger' | 'types'>,
): Promise<Removed> {
  let removed = 0;
  let unread = 0;
  if (ledger !== undefined && (await exists(ledger.folder))) {
    await pause(QUEUED_MS);
    const files = await segmentFiles(ledger.folder);
    const open = files.filter(({ isClosed }) => !isClosed);
    for (const { path } of open) await writeFile(closeMark(path), '');
    if (open.length > 0) await pause(WRITING_MS);
    const isAbout = recordTest(who, ledger.idSalt, types);
    for (const { path } of files) {
      const segment = await rewriteSegment(path, isAbout).catch(ifGone);
      removed += segment.removed;
      unread += segment.unread;
    }
  }
  return { ledger_records: removed, unreadable_ledger_records: unread };
}

function exists(path: string): Promise<boolean> {
  return segmentPaths(path).then(
    () => true,
    (error: unknown) => {
      if (isUnanswered(error)) throw error;
      return false;
    },
  );
}

/** Retention, or another call, may delete a segment meanwhile. */
function ifGone(error: unknown): { removed: number; unread: number } {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { removed: 0, unread: 0 };
  throw error;
}

type RecordTest = (record: DecodedRecord) => boolean;

/** Whether a record names one of the entities, by its id or by the hash of its id. */
function recordTest(
  { type, ids }: Forgotten,
  idSalt: string,
  types: ReadonlyMap<string, EntityType>,
): RecordTest {
  const hasher = new IdHasher(idSalt, new Set([type]));
  const names = new Set([...ids, ...(idSalt === '' ? [] : [...ids].map((id) => hasher.shown(type, id)))]);
  const named = new Set([...names].map((name) => `${type}=${name}`));
  /** The values that may hold ids of the type, by the id of the schema. */
  const valuesOf = new Map<string, readonly string[]>();
  return (record) => {
    const { kind, schema } = record;
    const { meta } = schema;
    let values = valuesOf.get(schema.id);
    if (values === undefined) valuesOf.set(schema.id, (values = valuesWithIds(record, type, types)));
    if (values.some((name) => holds(record.value(name), names))) return true;
    if (type === 'request' && holds(record.field('request_id'), names)) return true;
    switch (kind) {
      case 'ranking':
        return (
          holds(record.field('entities'), named) ||
          (unitOf(meta) === type && holds(record.field('unit'), names)) ||
          (meta['candidate_type'] === type && holds(record.field('candidate_id'), names))
        );
      case 'feedback':
        return record.field('subject_type')?.at(0) === type && holds(record.field('subject_id'), names);
      case 'history': {
        const keys = meta['keys'];
        return Array.isArray(keys) && keys.includes(type) && holds(record.field('keys'), names);
      }
    }
  };
}

/** The text values whose content may be ids of the type. Values whose type the project does not tell may be. */
function valuesWithIds(
  { schema: { columns, kind } }: DecodedRecord,
  type: string,
  types: ReadonlyMap<string, EntityType>,
): readonly string[] {
  const mayHold = (name: string): boolean => {
    if (kind === 'feedback') return name === type || !types.has(name);
    return kind === 'history' || name.includes(':') || holdsIdsOf(name, type, types);
  };
  return columns
    .filter((column) => column.is === 'value' && (column.type === 'text' || column.type === 'texts'))
    .map(({ name }) => name)
    .filter(mayHold);
}

function unitOf(meta: JsonObject): string | undefined {
  const log = meta['log'];
  const unit = typeof log === 'object' && log !== null && 'unit' in log ? log.unit : undefined;
  return typeof unit === 'string' ? unit : undefined;
}

/** True if a text of the column is one of the names. */
function holds(cells: Cells | undefined, names: ReadonlySet<string>): boolean {
  for (let row = 0; row < (cells?.length ?? 0); row++) {
    const value = cells?.at(row);
    if (
      typeof value === 'string'
        ? names.has(value)
        : Array.isArray(value) && value.some((text) => names.has(String(text)))
    )
      return true;
  }
  return false;
}
