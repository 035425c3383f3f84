/** Keeps values in memory, up to a number of entries and an age. A Map keeps the order of use. */
export class LruCache<V> {
  readonly #held = new Map<string, { readonly value: V; readonly expires: number }>();

  /**
   * @param entries the most values
   * @param ttlMs how long a value is kept
   * @param now epoch milliseconds
   * @throws RangeError if a limit is not sane
   */
  constructor(
    readonly entries: number,
    readonly ttlMs: number,
    readonly now: () => number,
  ) {
    if (!Number.isInteger(entries) || entries < 1 || entries > 1_000_000)
      throw new RangeError(`a cache has from 1 to 1,000,000 entries, not ${entries}`);
    if (!(ttlMs > 0)) throw new RangeError(`the values of a cache are kept for more than 0 ms, not ${ttlMs}`);
  }

  get size(): number {
    return this.#held.size;
  }

  get(key: string): V | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    if (held.expires <= this.now()) return undefined;
    this.#held.set(key, held); // it was used last
    return held.value;
  }

  set(key: string, value: V): void {
    this.#held.delete(key);
    if (this.#held.size >= this.entries) {
      const [oldest] = this.#held.keys();
      if (oldest !== undefined) this.#held.delete(oldest);
    }
    this.#held.set(key, { value, expires: this.now() + this.ttlMs });
  }

  delete(key: string): void {
    this.#held.delete(key);
  }
}
