import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { newVersioned, VERSIONED_HEAD } from './versioned-record.js';

/** Writes a versioned record whose content is a text. @param expires when it may be dropped, epoch milliseconds */
export function textRecord(text: string, expires = Infinity): Buffer {
  const bytes = Buffer.from(text);
  const record = newVersioned(VERSIONED_HEAD + bytes.length, expires);
  bytes.copy(record, VERSIONED_HEAD);
  return record;
}

/** Writes a versioned record whose content is JSON. @param expires when it may be dropped, epoch milliseconds */
export function jsonRecord(value: object, expires = Infinity): Buffer {
  return textRecord(JSON.stringify(value), expires);
}

/** The content of such a record; undefined if it is damaged. */
export function readJsonRecord(record: Buffer): JsonObject | undefined {
  const value = contentOf(record);
  return isJsonObject(value) ? value : undefined;
}

/** The content of a record that holds a list; no elements without a record, or if it is damaged. */
export function readJsonList(record: Buffer | null): readonly unknown[] {
  const value = record === null ? undefined : contentOf(record);
  return Array.isArray(value) ? value : [];
}

function contentOf(record: Buffer): unknown {
  try {
    return JSON.parse(record.toString('utf8', VERSIONED_HEAD));
  } catch {
    return undefined;
  }
}
