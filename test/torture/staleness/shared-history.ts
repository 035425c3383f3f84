/** Acknowledgements of one item that are remembered: more than can come within the longest staleness of interest. */
const REMEMBERED = 256;

/**
 * What writers have been acknowledged, in memory that the threads share. Each item has one writer, so that its versions
 * have one order; version 0 is written before the rest begins.
 */
export class SharedHistory {
  readonly #versions: Int32Array;
  readonly #times: Float64Array;

  constructor(
    readonly items: number,
    readonly memory: { readonly versions: SharedArrayBuffer; readonly times: SharedArrayBuffer } = {
      versions: new SharedArrayBuffer(4 * items),
      times: new SharedArrayBuffer(8 * items * REMEMBERED),
    },
  ) {
    this.#versions = new Int32Array(memory.versions);
    this.#times = new Float64Array(memory.times);
  }

  acknowledged(item: number): number {
    return Atomics.load(this.#versions, item);
  }

  acknowledge(item: number, version: number): void {
    const now = monotonic();
    // Of a version that failed, the next one is what had to be seen from then on.
    for (let v = Math.max(this.acknowledged(item) + 1, version - REMEMBERED + 1); v <= version; v++)
      this.#times[item * REMEMBERED + (v % REMEMBERED)] = now;
    Atomics.store(this.#versions, item, version);
  }

  /** When a version was acknowledged; of one that was forgotten, the oldest that is known. */
  timeOf(item: number, version: number): number {
    const oldest = Math.max(version, this.acknowledged(item) - REMEMBERED + 2);
    return this.#times[item * REMEMBERED + (oldest % REMEMBERED)] ?? NaN;
  }
}

/** Milliseconds on a clock that all threads share. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
