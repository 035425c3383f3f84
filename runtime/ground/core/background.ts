import { inLane, SLICE_MS, type Job, type Pieces } from './lanes.js';

/** The slice of background work while an urgent request is in flight, or was until recently, in milliseconds. */
const SHORT_SLICE_MS = 1;
/** An urgent request counts for this many milliseconds after its end, because the next one probably follows. */
const MOMENT_MS = 100;
/** Background work then pauses for this multiple of its working time. */
const REST = 4;

/** True while an urgent request is in flight, and shortly after its end. */
export function isUrgent(): boolean {
  return urgent > 0 || performance.now() - urgentUntil < MOMENT_MS;
}

/** A background job counts as long after this many slices. */
const SHORT_JOB = 5;

/**
 * Runs jobs that can wait. Short jobs take turns with each other. Long jobs run one at a time to the end, so that few
 * of them hold intermediate results in memory. Slices of short and long jobs alternate. While an urgent request is in
 * flight, slices are shorter and have pauses between them.
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
    const isBusy = isUrgent();
    const until = started + (isBusy ? SHORT_SLICE_MS : SLICE_MS);
    let isOver: boolean;
    do {
      const isLong = this.#short.length === 0 || (this.#isLongNext && this.#long.length > 0);
      this.#isLongNext = !isLong;
      isOver = isLong ? this.#runLong(until) : this.#runShort(until);
    } while (isOver && performance.now() < until && this.#short.length + this.#long.length > 0);
    if (this.#short.length + this.#long.length === 0) return;
    if (isBusy) setTimeout(this.#turn, REST * (performance.now() - started));
    else setImmediate(this.#turn);
  };

  /** @returns whether the job is over */
  #runLong(until: number): boolean {
    const isOver = this.#long[0]?.run(until) !== false;
    if (isOver) this.#long.shift();
    return isOver;
  }

  /** @returns whether the job is over */
  #runShort(until: number): boolean {
    const [first] = this.#short;
    if (first === undefined) return true;
    const isOver = first.job.run(until);
    this.#short.shift();
    if (isOver) return true;
    if (++first.slices < SHORT_JOB) this.#short.push(first);
    else this.#long.push(first.job);
    return false;
  }
}

let urgent = 0;
/** The time when the last urgent request ended, by `performance.now()`. */
let urgentUntil = -Infinity;

/**
 * Marks the start of an urgent request. Until shortly after its end, background work runs in short slices with pauses.
 * @returns a function to call at its end
 */
export function beginUrgent(): () => void {
  urgent++;
  return () => {
    urgent--;
    urgentUntil = performance.now();
  };
}

const background = new Background();

/** Divides work that can wait, such as an upload, among turns of the event loop. */
export function inBackground<T>(work: Pieces<T>, check?: () => void): Promise<T> {
  return inLane(background, work, check);
}

/** Calls a function that can wait, as one piece. Pieces of other work run before and after it. */
export function callInBackground<T>(call: () => T): Promise<T> {
  return inLane(background, { next: () => ({ done: true, value: call() }) });
}
