/** Large enough for many records to share one allocation, small enough to move the remaining records quickly. */
const SLAB_BYTES = 256 * 1024;
/** A larger record gets its own memory. */
const LARGEST_IN_SLAB = SLAB_BYTES / 8;

/**
 * Memory that holds records one after another. It is never overwritten, so the records that readers hold stay intact.
 */
interface Slab {
  readonly bytes: Buffer;
  used: number;
  /** Bytes of it that belong to current records. */
  live: number;
  /** Keys of the records that were stored here, including replaced and deleted ones. */
  readonly keys: string[];
}

/**
 * The records in memory. A Buffer of its own costs about a hundred bytes in addition to its content, and one from
 * Node's pool keeps the whole pool alive. So records are copied into slabs. If less than half of a slab is in use, its
 * records are moved and it is freed. At worst this takes twice the memory of the records.
 */
export class RecordMemory {
  readonly #records = new Map<string, Buffer>();
  readonly #slabs = new Map<ArrayBufferLike, Slab>();
  #filling: Slab | undefined;
  #bytes = 0;

  get size(): number {
    return this.#records.size;
  }

  /** Bytes of all values. */
  get bytes(): number {
    return this.#bytes;
  }

  keys(): IterableIterator<string> {
    return this.#records.keys();
  }

  /** The record; do not modify it. */
  get(key: string): Buffer | undefined {
    return this.#records.get(key);
  }

  /** Stores a copy. @returns bytes of the record that it replaces */
  put(key: string, value: Buffer): number {
    const before = this.#records.get(key);
    this.#place(key, value);
    this.#bytes += value.length;
    return before === undefined ? 0 : this.#release(before);
  }

  /** @returns bytes of the deleted record */
  delete(key: string): number {
    const before = this.#records.get(key);
    if (before === undefined) return 0;
    this.#records.delete(key);
    return this.#release(before);
  }

  clear(): void {
    this.#records.clear();
    this.#slabs.clear();
    this.#filling = undefined;
    this.#bytes = 0;
  }

  #place(key: string, value: Buffer): void {
    if (value.length > LARGEST_IN_SLAB) {
      const own = Buffer.allocUnsafeSlow(value.length);
      value.copy(own);
      this.#records.set(key, own);
      return;
    }
    const slab = this.#roomFor(value.length);
    const from = slab.used;
    slab.used += value.length;
    slab.live += value.length;
    slab.keys.push(key);
    slab.bytes.set(value, from);
    this.#records.set(key, slab.bytes.subarray(from, slab.used));
  }

  #roomFor(size: number): Slab {
    const filling = this.#filling;
    if (filling !== undefined && filling.used + size <= SLAB_BYTES) return filling;
    const slab: Slab = { bytes: Buffer.allocUnsafeSlow(SLAB_BYTES), used: 0, live: 0, keys: [] };
    this.#slabs.set(slab.bytes.buffer, slab);
    this.#filling = slab;
    if (filling !== undefined) this.#thin(filling);
    return slab;
  }

  #release(value: Buffer): number {
    this.#bytes -= value.length;
    const slab = this.#slabs.get(value.buffer);
    if (slab === undefined) return value.length;
    slab.live -= value.length;
    if (slab !== this.#filling) this.#thin(slab);
    return value.length;
  }

  /** Moves the remaining records of a slab to another slab if less than half of its bytes are in use. */
  #thin(slab: Slab): void {
    if (2 * slab.live >= slab.used || !this.#slabs.delete(slab.bytes.buffer)) return;
    for (const key of slab.keys) {
      const value = this.#records.get(key);
      if (value !== undefined && value.buffer === slab.bytes.buffer) this.#place(key, value);
    }
  }
}
