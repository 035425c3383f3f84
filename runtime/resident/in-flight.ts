/** Most written keys to remember; beyond that, no record of a read in flight is kept. */
const MOST_REMEMBERED = 65_536;

/**
 * Detects reads that an invalidation overtook: a record that was requested before its key was written may be stale, so
 * only the request itself uses it. Writes are remembered only while reads are in flight.
 */
export class InFlight {
  #time = 0;
  /** Records of reads that began before this time are not kept. */
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

  /** Whether any read that began then may have been overtaken; if not, `isOvertaken` need not be called. */
  any(begun: number): boolean {
    return begun < this.#floor || this.#written.size > 0;
  }

  isOvertaken(key: string, begun: number): boolean {
    return begun < this.#floor || (this.#written.get(key) ?? 0) > begun;
  }
}
