import { inLane, SLICE_MS, type Job, type Pieces } from './lanes.js';

/** The same for work in the background while something urgent is in flight, or was a moment ago. */
const SHORT_SLICE_MS = 1;
/** For so many milliseconds something urgent counts after its end: the next one is probably on its way. */
const MOMENT_MS = 100;
/** Work in the background then rests so many times as long as it worked. */
const REST = 3;

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

const background = new Background();

/** Divides work that can wait, such as an upload, among turns of the event loop. */
export function inBackground<T>(work: Pieces<T>, check?: () => void): Promise<T> {
  return inLane(background, work, check);
}
