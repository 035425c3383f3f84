import type { JoinKeyType } from '../../project/config/model/feast.js';
import { isWellFormed } from '../../ground/core/ids.js';

export interface JoinKey {
  readonly name: string;
  readonly type: JoinKeyType;
}

/** Numbers of Feast's ValueType. */
const VALUE_TYPES: Readonly<Record<JoinKeyType, number>> = {
  bytes: 1,
  string: 2,
  int32: 3,
  int64: 4,
  timestamp: 8,
};

/** The join key of views without entities; its id is empty. */
const NO_ENTITY: JoinKey = { name: '__dummy_id', type: 'string' };

/** A join key, and the position of its id. */
interface Part extends JoinKey {
  readonly index: number;
}

/**
 * Builds the Redis keys of Feast's rows: the serialized entity key, followed by the name of the project.
 *
 *   version 3   u32 number of join keys; for each, sorted by name: u32 2, u32 length, name; then the values
 *   version 2   for each, sorted by name: u32 2, name (without its length); then the values
 *   a value     u32 type, u32 length, bytes; numbers are little-endian
 *
 * Source: Feast's docs/specs/online_store_format.md and `serialize_entity_key` of feast.infra.key_encoding_utils.
 */
export class EntityKeyFormat {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  readonly #parts: readonly Part[];

  /** @param joinKeys in the order of the ids passed to `encode`; empty for a view without entities */
  constructor(version: 2 | 3, joinKeys: readonly JoinKey[], project: string) {
    const keys = joinKeys.length === 0 ? [NO_ENTITY] : joinKeys;
    // Sorted by bytes, which is the order of code points that Python uses. The order of UTF-16 code units would differ.
    this.#parts = keys
      .map((key, index) => ({ ...key, index }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    const head = version === 3 ? [u32(keys.length)] : [];
    for (const { name } of this.#parts) {
      const bytes = Buffer.from(name);
      head.push(u32(VALUE_TYPES.string), ...(version === 3 ? [u32(bytes.length)] : []), bytes);
    }
    this.#head = Buffer.concat(head);
    this.#tail = Buffer.from(project);
  }

  /**
   * The key of a row. Number and time ids (times in seconds) are decimal texts without leading zeros; ids of bytes are
   * hexadecimal.
   * @returns undefined if an id is not a value of its join key's type: Feast can have no such row
   */
  encode(ids: readonly string[]): Buffer | undefined {
    let length = this.#head.length + this.#tail.length;
    for (const part of this.#parts) {
      const size = sizeOf(ids[part.index] ?? '', part.type);
      if (size < 0) return undefined;
      length += 8 + size;
    }
    const key = Buffer.allocUnsafe(length);
    let at = this.#head.copy(key, 0);
    for (const { type, index } of this.#parts) {
      const id = ids[index] ?? '';
      at = key.writeUInt32LE(VALUE_TYPES[type], at);
      const start = key.writeUInt32LE(0, at);
      const end = writeValue(key, start, id, type);
      key.writeUInt32LE(end - start, at);
      at = end;
    }
    this.#tail.copy(key, at);
    return key;
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;
/** Length of decimal text up to which every integer is exact as a double. */
const SURELY_EXACT = 15;

/** Bytes of an id as a value; -1 if it is not valid for the type. */
function sizeOf(id: string, type: JoinKeyType): number {
  switch (type) {
    case 'string':
      return isWellFormed(id) ? Buffer.byteLength(id) : -1;
    case 'bytes':
      return /^(?:[0-9a-f]{2})*$/.test(id) ? id.length / 2 : -1;
    case 'int32':
      return DECIMAL.test(id) && Number(id) === (Number(id) | 0) ? 4 : -1;
    case 'int64':
    case 'timestamp':
      return DECIMAL.test(id) && (id.length <= SURELY_EXACT || isInt64(BigInt(id))) ? 8 : -1;
  }
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** @returns the offset after the value */
function writeValue(key: Buffer, at: number, id: string, type: JoinKeyType): number {
  switch (type) {
    case 'string':
      return at + key.write(id, at, 'utf8');
    case 'bytes':
      return at + key.write(id, at, 'hex');
    case 'int32':
      return key.writeInt32LE(Number(id), at);
    case 'int64':
    case 'timestamp': {
      if (id.length > SURELY_EXACT) return key.writeBigInt64LE(BigInt(id), at);
      const value = Number(id);
      key.writeUInt32LE(value >>> 0, at);
      return key.writeInt32LE(Math.floor(value / 2 ** 32), at + 4);
    }
  }
}
