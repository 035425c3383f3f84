/**
 * Values that were read together, as places in the memory that they came in: those of one reply share a few buffers, so
 * that a thousand records cost no thousand objects.
 */
export class RecordBatch {
  /** By number: the memory that the value lies in; null where the store has none. */
  readonly memory: (Buffer | null)[] = [];
  /** By number: where in its memory the value starts, and where it ends. */
  starts = new Int32Array(0);
  ends = new Int32Array(0);

  get length(): number {
    return this.memory.length;
  }

  /** Makes room for more values, none of which is there yet; returns the number of the first. */
  extend(count: number): number {
    const first = this.memory.length;
    for (let i = 0; i < count; i++) this.memory.push(null);
    this.starts = longer(this.starts, first + count);
    this.ends = longer(this.ends, first + count);
    return first;
  }

  /** Says where the value of a number is; the memory is not to change from then on. */
  put(number: number, memory: Buffer | null, start: number, end: number): void {
    this.memory[number] = memory;
    this.starts[number] = start;
    this.ends[number] = end;
  }

  /** A value as a buffer of its own, on the same memory. */
  record(number: number): Buffer | null {
    return this.memory[number]?.subarray(this.starts[number], this.ends[number]) ?? null;
  }
}

function longer(numbers: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const all = new Int32Array(length);
  all.set(numbers);
  return all;
}
