/** Counts the work that uses a resource, so that the resource can be closed when no work uses it. */
export class Usage {
  #count = 0;
  readonly #idle = new Set<() => void>();

  /** Each `begin` needs one `end`. */
  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count > 0) return;
    for (const notify of this.#idle) notify();
  }

  /** Counts work until its promise settles. */
  hold(work: Promise<unknown>): void {
    this.begin();
    const end = (): void => this.end();
    work.then(end, end);
  }

  /** Resolves to true once no work is in flight, or to false after the time limit. */
  idle(limitMs: number): Promise<boolean> {
    if (this.#count === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isIdle: boolean): void => {
        clearTimeout(timer);
        this.#idle.delete(notify);
        resolve(isIdle);
      };
      const notify = (): void => settle(true);
      const timer = setTimeout(() => settle(false), limitMs);
      timer.unref();
      this.#idle.add(notify);
    });
  }
}
