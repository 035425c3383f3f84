/** Maximum time of one slice, in milliseconds. All jobs of a slice share it. */
const SLICE_MS = 4;

/** Long work that can be interrupted at each yield. */
export type Pieces<T> = Generator<undefined, T>;

/** A unit of work whose caller waits for a promise. */
interface Job {
  /** Continues until the given time. Returns true when the work has ended. */
  run(until: number): boolean;
}

/** The queue of jobs. Each turn of the event loop runs one slice, however many jobs there are. */
const jobs: Job[] = [];

function turn(): void {
  const until = performance.now() + SLICE_MS;
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    if (job.run(until)) continue;
    jobs.push(job);
    break;
  }
  if (jobs.length > 0) setImmediate(turn);
}

/**
 * Divides work among turns of the event loop, so that the service answers other requests while it loads a model or
 * writes a long answer.
 * @param check called before each slice; an error that it throws ends the work
 */
export function inTurns<T>(work: Pieces<T>, check: () => void = () => undefined): Promise<T> {
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
    if (jobs.push({ run }) === 1) setImmediate(turn);
  });
}

/** Maps a list. Each element is one piece of work. */
export function* eachPiece<T, U>(list: readonly T[], map: (element: T, index: number) => U): Pieces<U[]> {
  const mapped: U[] = [];
  for (let i = 0; i < list.length; i++) {
    mapped.push(map(list[i] as T, i));
    yield;
  }
  return mapped;
}

/** Runs all of the work before it returns. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
