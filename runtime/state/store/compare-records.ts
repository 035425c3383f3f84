import { versionOf } from './codec/versioned-record.js';
import { isEntityKey } from './keys.js';
import type { RecordSwap } from './store.js';

/** The part of a record that a swap compares: an entity has no version, so all of it. */
export function comparedPart(key: string, record: Buffer): Buffer {
  return isEntityKey(key) ? record : versionOf(record);
}

/** Whether a swap stores its record, or has stored it already. */
export function isStored(found: Buffer | null, { key, before, after }: RecordSwap): boolean {
  if (found === null) return before === null;
  const part = comparedPart(key, found);
  return [before, after].some((record) => record !== null && comparedPart(key, record).equals(part));
}
