interface Waiting {
  readonly start: () => void;
}

/** Lets so much work run at a time; the rest waits in the order that it came, and leaves when its signal aborts. */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws the signal's reason if it aborts before the turn comes; the work itself has to heed the signal */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#running < this.#most) this.#running++;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#done();
    }
  }

  /** Resolves once nothing runs or waits. */
  idle(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason as Error);
      };
      const waiting = {
        start: (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Hands the turn on, or gives it back. */
  #done(): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next.start();
      return;
    }
    this.#running--;
    if (this.#running === 0) for (const told of this.#idle.splice(0)) told();
  }
}
