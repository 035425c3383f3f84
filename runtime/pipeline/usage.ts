/** Counts the work that still uses something, so that it can be let go of when there is none. */
export class Usage {
  #count = 0;
  #idle: (() => void)[] = [];

  /** Every `begin` has its `end`. */
  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count > 0) return;
    for (const told of this.#idle.splice(0)) told();
  }

  /** Counts some work until it settles. */
  hold(work: Promise<unknown>): void {
    this.begin();
    const end = (): void => this.end();
    work.then(end, end);
  }

  /** Resolves once nothing is under way. */
  idle(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}
