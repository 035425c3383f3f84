import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { newVersioned, VERSIONED_HEAD } from './versioned-record.js';

/** Writes a versioned record whose content is JSON. @param expires when it may be dropped, epoch milliseconds */
export function jsonRecord(value: object, expires = Infinity): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  const record = newVersioned(VERSIONED_HEAD + text.length, expires);
  text.copy(record, VERSIONED_HEAD);
  return record;
}

/** The content of such a record; undefined if it is damaged. */
export function readJsonRecord(record: Buffer): JsonObject | undefined {
  try {
    const value = JSON.parse(record.toString('utf8', VERSIONED_HEAD)) as unknown;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
