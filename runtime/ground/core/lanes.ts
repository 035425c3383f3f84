/** The length of a slice, in milliseconds. Then other work of the event loop runs. */
export const SLICE_MS = 4;

/** A yield of this ends the slice: the next piece may take as long as a whole slice. */
export const OWN_SLICE = 'own slice';

/** Long work that can pause at each yield. */
export type Pieces<T> = Generator<typeof OWN_SLICE | undefined, T>;

/** Work that runs in slices. */
export interface Job {
  /** Continues until the given time; returns true once it has ended. */
  run(until: number): boolean;
}

/** Runs jobs in turn. One turn of the event loop runs one slice, however many jobs there are. */
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

/** Runs the work in a lane. @param check called before each slice; an error that it throws ends the work */
export function inLane<T>(
  lane: { add(job: Job): void },
  work: Pick<Pieces<T>, 'next'>,
  check: () => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const run = (until: number): boolean => {
      try {
        check();
        do {
          const { done, value } = work.next();
          if (done === true) {
            resolve(value);
            return true;
          }
          if (value === OWN_SLICE) break;
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
