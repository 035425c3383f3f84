/** Keys of overtaken reads that are remembered by name; beyond that, no read under way is kept. */
const MOST_REMEMBERED = 65_536;

/**
 * Knows which reads an invalidation overtook: a record that was asked for before its key was written may be the old one,
 * and is used for its request alone. Invalidations are remembered only while reads are under way.
 */
export class InFlight {
  #time = 0;
  /** Reads that began before this may be of anything. */
  #floor = 0;
  #reading = 0;
  readonly #written = new Map<string, number>();

  /** Call before the read is sent; every `begin` has its `end`. */
  begin(): number {
    this.#reading++;
    return this.#time;
  }

  end(): void {
    if (--this.#reading === 0) this.#written.clear();
  }

  /** Says that a key was written. */
  written(key: string): void {
    if (this.#reading === 0) return;
    if (this.#written.size >= MOST_REMEMBERED) {
      this.anything();
      return;
    }
    this.#written.set(key, ++this.#time);
  }

  /** Says that any key may have been written. */
  anything(): void {
    this.#floor = ++this.#time;
    this.#written.clear();
  }

  /** Whether any read that began then may have been overtaken at all; if not, `isOvertaken` need not be asked. */
  any(begun: number): boolean {
    return begun < this.#floor || this.#written.size > 0;
  }

  isOvertaken(key: string, begun: number): boolean {
    return begun < this.#floor || (this.#written.get(key) ?? 0) > begun;
  }
}
