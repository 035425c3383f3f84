import { crc32 } from './crc32.js';
import type { RecordMemory } from './record-memory.js';

/** Key of the digest in the database; no key of keys.ts starts with this character. */
export const DIGEST_KEY = '\u0000digest';

/**
 * Format version of the data folder: its keys, its records and this digest. Millrace refuses to open a folder with an
 * unknown format.
 */
export const FOLDER_FORMAT = 1;
const SIZE = 13;

/**
 * The number of the records and the sum of their CRC-32s (modulo 2^32), which does not depend on their order. Every
 * batch contains the digest of the records after it. LevelDB does not verify the blocks that it reads, nor that its log
 * is complete; the digest detects such damage when the database is opened.
 */
export class Digest {
  #count = 0;
  #sum = 0;

  /** Decodes a digest; undefined if the bytes are not one. */
  static decode(bytes: Buffer): Digest | undefined {
    if (bytes.length !== SIZE || bytes[0] !== FOLDER_FORMAT) return undefined;
    const digest = new Digest();
    digest.#sum = bytes.readUInt32LE(1);
    digest.#count = bytes.readDoubleLE(5);
    return digest;
  }

  get count(): number {
    return this.#count;
  }

  /** The digest of the records after some changes; undefined means a deletion. */
  after(changes: ReadonlyMap<string, Buffer | undefined>, records: RecordMemory): Digest {
    const next = new Digest();
    next.#count = this.#count;
    next.#sum = this.#sum;
    for (const [key, value] of changes) {
      const before = records.get(key);
      if (before !== undefined) next.#remove(key, before);
      if (value !== undefined) next.add(key, value);
    }
    return next;
  }

  add(key: string, value: Buffer): void {
    this.#count += 1;
    this.#sum = (this.#sum + crc32(value, crc32(key))) >>> 0;
  }

  #remove(key: string, value: Buffer): void {
    this.#count -= 1;
    this.#sum = (this.#sum - crc32(value, crc32(key))) >>> 0;
  }

  equals(other: Digest): boolean {
    return this.#count === other.#count && this.#sum === other.#sum;
  }

  encode(): Buffer {
    const bytes = Buffer.alloc(SIZE);
    bytes[0] = FOLDER_FORMAT;
    bytes.writeUInt32LE(this.#sum, 1);
    bytes.writeDoubleLE(this.#count, 5);
    return bytes;
  }
}
