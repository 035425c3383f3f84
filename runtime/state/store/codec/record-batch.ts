const NONE = new Int32Array(0);

/**
 * Values that were read together, as ranges of the memory that they arrived in. The values of one reply share a few
 * buffers, so a thousand records do not need a thousand objects.
 */
export class RecordBatch {
  /** By number: the memory that holds the value; null if the store has none. */
  readonly memory: (Buffer | null)[] = [];
  /** By number: the offsets of the value in its memory. */
  starts = NONE;
  ends = NONE;

  get length(): number {
    return this.memory.length;
  }

  /** Adds entries for more values, all null; returns the number of the first. */
  extend(count: number): number {
    const first = this.memory.length;
    for (let i = 0; i < count; i++) this.memory.push(null);
    this.starts = longer(this.starts, first + count);
    this.ends = longer(this.ends, first + count);
    return first;
  }

  /** Sets the range of a value. The memory must not change afterwards. */
  put(number: number, memory: Buffer | null, start: number, end: number): void {
    this.memory[number] = memory;
    this.starts[number] = start;
    this.ends[number] = end;
  }

  /** Returns a value as a separate buffer on the same memory. */
  record(number: number): Buffer | null {
    return this.memory[number]?.subarray(this.starts[number], this.ends[number]) ?? null;
  }
}

function longer(numbers: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const all = new Int32Array(length);
  all.set(numbers);
  return all;
}
