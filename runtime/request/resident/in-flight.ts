/** Maximum number of written keys to remember. If there are more, no record of a read in flight is cached. */
const MOST_REMEMBERED = 65_536;

/**
 * Detects reads that an invalidation overtook. A record that was requested before its key was written may be stale, so it
 * is not cached; only the request itself uses it. Writes are remembered only while reads are in flight.
 */
export class InFlight {
  #time = 0;
  /** Records of reads that began before this time are not cached. */
  #floor = 0;
  #reading = 0;
  readonly #written = new Map<string, number>();

  /** Call before a read is sent; call `end` once for each `begin`. */
  begin(): number {
    this.#reading++;
    return this.#time;
  }

  end(): void {
    if (--this.#reading === 0) this.#written.clear();
  }

  /** Records that a key was written. */
  written(key: string): void {
    if (this.#reading === 0) return;
    if (this.#written.size >= MOST_REMEMBERED) {
      this.anything();
      return;
    }
    this.#written.set(key, ++this.#time);
  }

  /** Records that any key may have been written. */
  anything(): void {
    this.#floor = ++this.#time;
    this.#written.clear();
  }

  /** True if a read that began at `begun` may have been overtaken. If false, `isOvertaken` need not be called. */
  any(begun: number): boolean {
    return begun < this.#floor || this.#written.size > 0;
  }

  isOvertaken(key: string, begun: number): boolean {
    return begun < this.#floor || (this.#written.get(key) ?? 0) > begun;
  }
}
