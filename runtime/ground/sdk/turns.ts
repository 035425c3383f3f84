interface Waiting {
  readonly start: () => void;
}

/**
 * Limits how many tasks run at a time. The others wait in order of arrival; a task leaves the queue when its signal
 * aborts.
 */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @throws the reason of the signal if it aborts before the task starts; a running task must watch the signal itself
   */
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

  /** Resolves when no task runs or waits. */
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

  /** Passes the slot to the next task, or frees it. */
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
