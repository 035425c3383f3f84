/** The pieces of a turn take so long together before others have theirs, milliseconds. */
const SLICE_MS = 4;

/** Long work that can be laid down wherever it yields. */
export type Pieces<T> = Generator<undefined, T>;

/** Some work, and who waits for it. */
interface Job {
  /** Goes on until the time given; true once it has ended. */
  run(until: number): boolean;
}

/** What has to be done, in the order of its turns: one turn of the event loop has one slice, however many jobs there are. */
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
 * Divides work among turns of the event loop: a service that takes up a new model, or writes a long answer, goes on
 * answering.
 * @param check called before each slice; what it throws ends the work
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

/** Maps a list, an element a piece. */
export function* eachPiece<T, U>(list: readonly T[], map: (element: T, index: number) => U): Pieces<U[]> {
  const mapped: U[] = [];
  for (let i = 0; i < list.length; i++) {
    mapped.push(map(list[i] as T, i));
    yield;
  }
  return mapped;
}

/** Does all of it before it returns. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
