/** Counts the work that still uses something, so that it can be let go of when there is none. */
export class Usage {
  #count = 0;
  readonly #idle = new Set<() => void>();

  /** Every `begin` has its `end`. */
  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count > 0) return;
    for (const told of this.#idle) told();
  }

  /** Counts some work until it settles. */
  hold(work: Promise<unknown>): void {
    this.begin();
    const end = (): void => this.end();
    work.then(end, end);
  }

  /** Whether nothing is under way within so many milliseconds: what never settles is not waited for. */
  idle(limitMs: number): Promise<boolean> {
    if (this.#count === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isIdle: boolean): void => {
        clearTimeout(late);
        this.#idle.delete(told);
        resolve(isIdle);
      };
      const told = (): void => settle(true);
      const late = setTimeout(() => settle(false), limitMs);
      late.unref();
      this.#idle.add(told);
    });
  }
}
