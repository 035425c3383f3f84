/** The pieces of a turn take so long together before others have theirs, milliseconds. */
export const SLICE_MS = 4;

/** Long work that can be laid down wherever it yields. */
export type Pieces<T> = Generator<undefined, T>;

/** Some work, and who waits for it. */
export interface Job {
  /** Goes on until the time given; true once it has ended. */
  run(until: number): boolean;
}

/** Jobs in the order of their turns: one turn of the event loop has one slice, however many jobs there are. */
export class Lane {
  readonly #jobs: Job[] = [];

  add(job: Job): void {
    if (this.#jobs.push(job) === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const until = performance.now() + SLICE_MS;
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      const isOver = job.run(until);
      this.#jobs.shift();
      if (isOver) continue;
      this.#jobs.push(job);
      break;
    }
    if (this.#jobs.length > 0) setImmediate(this.#turn);
  };
}

/** Has a lane do the work. @param check called before each slice; what it throws ends the work */
export function inLane<T>(
  lane: { add(job: Job): void },
  work: Pieces<T>,
  check: () => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const run = (until: number): boolean => {
      try {
        check();
        do {
          const { done, value } = work.next();
          if (done !== true) continue;
          resolve(value);
          return true;
        } while (performance.now() < until);
        return false;
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error), { cause: error }));
        return true;
      }
    };
    lane.add({ run });
  });
}
