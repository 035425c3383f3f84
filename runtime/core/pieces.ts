/** The pieces of a turn take so long together before others have theirs, milliseconds. */
const SLICE_MS = 4;
/** The same for work in the background while something urgent is in flight, or was a moment ago. */
const SHORT_SLICE_MS = 1;
/** For so many milliseconds something urgent counts after its end: the next one is probably on its way. */
const MOMENT_MS = 100;
/** Work in the background then rests so many times as long as it worked. */
const REST = 3;

/** Long work that can be laid down wherever it yields. */
export type Pieces<T> = Generator<undefined, T>;

/** Some work, and who waits for it. */
interface Job {
  /** Goes on until the time given; true once it has ended. */
  run(until: number): boolean;
}

/** Jobs in the order of their turns: one turn of the event loop has one slice, however many jobs there are. */
class Lane {
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

/** Slices after which a job in the background counts as long. */
const SHORT_JOB = 5;

/**
 * Jobs that may wait. Short ones take turns with each other; of the long ones the first goes on until it is done, so that
 * few of them hold what they have made so far. A slice of the one kind follows one of the other. While something urgent
 * is in flight the slices are shorter, with rests between them.
 */
class Background {
  readonly #short: { readonly job: Job; slices: number }[] = [];
  readonly #long: Job[] = [];
  #isLongNext = false;

  add(job: Job): void {
    if (this.#short.push({ job, slices: 0 }) + this.#long.length === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const started = performance.now();
    const isBusy = urgent > 0 || started - urgentUntil < MOMENT_MS;
    const until = started + (isBusy ? SHORT_SLICE_MS : SLICE_MS);
    do {
      const isLong = this.#short.length === 0 || (this.#isLongNext && this.#long.length > 0);
      this.#isLongNext = !isLong;
      if (isLong) this.#runLong(until);
      else this.#runShort(until);
    } while (performance.now() < until && this.#short.length + this.#long.length > 0);
    if (this.#short.length + this.#long.length === 0) return;
    if (isBusy) setTimeout(this.#turn, REST * (performance.now() - started));
    else setImmediate(this.#turn);
  };

  #runLong(until: number): void {
    if (this.#long[0]?.run(until) === true) this.#long.shift();
  }

  #runShort(until: number): void {
    const [first] = this.#short;
    if (first === undefined) return;
    const isOver = first.job.run(until);
    this.#short.shift();
    if (isOver) return;
    if (++first.slices < SHORT_JOB) this.#short.push(first);
    else this.#long.push(first.job);
  }
}

let urgent = 0;
/** When the last urgent request ended, by `performance.now()`. */
let urgentUntil = -Infinity;

/** Says that a request is in flight that others are not to delay: until shortly after its end, work in the background has short turns and rests. */
export function beginUrgent(): () => void {
  urgent++;
  return () => {
    urgent--;
    urgentUntil = performance.now();
  };
}

const foreground = new Lane();
const background = new Background();

/**
 * Divides work among turns of the event loop: a service that takes up a new model, or writes a long answer, goes on
 * answering.
 * @param check called before each slice; what it throws ends the work
 */
export function inTurns<T>(work: Pieces<T>, check?: () => void): Promise<T> {
  return inLane(foreground, work, check);
}

/** The same for work that nobody waits for as for a ranking: uploads. */
export function inBackground<T>(work: Pieces<T>, check?: () => void): Promise<T> {
  return inLane(background, work, check);
}

function inLane<T>(
  lane: Pick<Lane, 'add'>,
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

/**
 * Begins the work at once and returns its value if it takes no longer than a slice; the rest is divided among turns of the
 * event loop. For work that is short, unless a client sends what is long.
 */
export function soon<T>(work: Pieces<T>, check?: () => void): T | Promise<T> {
  const until = performance.now() + SLICE_MS;
  do {
    const { done, value } = work.next();
    if (done === true) return value;
  } while (performance.now() < until);
  return inTurns(work, check);
}

/** Does all of it before it returns. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
