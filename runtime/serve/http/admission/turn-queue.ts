import { performance } from 'node:perf_hooks';
import { CLASS_NUMBER, REQUEST_CLASSES, type RequestClass } from './request-class.js';
import { StartPace } from './start-pace.js';

/**
 * The bounds of a slice, in milliseconds. In one turn of the event loop, requests may start for half of the estimated
 * wait. Then replies and new requests are read. A longer queue makes larger batches of reads and answers. Each request
 * then costs less, because its client is woken less often.
 */
const SHORTEST_SLICE_MS = 0.5;
const LONGEST_SLICE_MS = 8;
/** The maximum number of requests that start in one turn. */
const MOST_STARTS = 16;
/** The longest time during which only connections are accepted and no request starts, in milliseconds. */
const ACCEPTING_MS = 8;
/** The weight of the newest interval between two starts in the estimate. */
const NEWEST = 0.05;
/** A queue that was not empty for this long is a standing queue, in milliseconds (the interval of RFC 8289). */
const STANDING_MS = 100;

/** A request that waits for its turn to use the CPU. */
export interface Waiting {
  readonly class: RequestClass;
  /** The time when its wait began, by `performance.now()`. */
  readonly since: number;
  /** Starts or refuses the request. It is called once, in its own callback. @returns whether the request was started */
  begin(now: number): boolean;
}

/**
 * The queue of requests that wait for the CPU. Requests start one after the other, so that each one finishes soon after
 * its start. If all started at once, all would finish late. The most important class goes first, and the oldest request
 * within a class.
 *
 * Requests start in slices between the reads of the event loop, so that work in progress continues before more work
 * begins.
 */
export class TurnQueue {
  readonly #byClass = REQUEST_CLASSES.map(() => new Fifo());
  readonly #pace = new StartPace();
  readonly #inProgress: () => number;
  #length = 0;
  #emptyAt = performance.now();
  /** The number of scheduled immediates of this turn that have not run. */
  #steps = 0;
  #sliceEnd = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The estimated time between two starts, in milliseconds. */
  #intervalMs = 0;
  /** The time when the last request started; 0 if the queue was empty after it. */
  #lastStart = 0;
  #hasAccepted = false;
  /** Whether a request of this turn started without waiting. */
  #hasStarted = false;
  #acceptingUntil = 0;

  /** @param inProgress returns the number of requests that have started and not finished */
  constructor(inProgress: () => number) {
    this.#inProgress = inProgress;
  }

  get length(): number {
    return this.#length;
  }

  enter(request: Waiting): void {
    if (this.#mayStartNow(request.class)) {
      this.#hasStarted = true;
      setImmediate(this.#turnEnds);
      if (request.begin(performance.now())) this.#pace.started();
      return;
    }
    if (this.#length === 0) this.#emptyAt = performance.now();
    this.#length++;
    this.#byClass[CLASS_NUMBER[request.class]]?.push(request);
    this.#schedule();
  }

  /**
   * True for the first ranking of a turn if the service has nothing else to do. It needs no wait for requests that are
   * more important, or that were sent earlier. Further requests of the turn wait, so that their heads are read first.
   */
  #mayStartNow(name: RequestClass): boolean {
    return (
      this.#length === 0 &&
      !this.#hasStarted &&
      !this.#hasAccepted &&
      CLASS_NUMBER[name] <= CLASS_NUMBER.ranking &&
      this.#inProgress() === 0
    );
  }

  readonly #turnEnds = (): void => {
    this.#hasStarted = false;
  };

  /**
   * True for a standing queue: it has not been empty for a while. The queue of a burst empties by itself; a standing
   * queue only adds delay (Nichols and Jacobson, RFC 8289, section 3).
   */
  isStanding(now: number): boolean {
    return this.#length > 0 && now - this.#emptyAt > STANDING_MS;
  }

  /**
   * Returns the estimated wait of a request that enters now, in milliseconds. Only requests that would start before it
   * count.
   */
  waitOf(name: RequestClass): number {
    if (this.#length === 0) return 0;
    let ahead = 0;
    for (let number = 0; number <= CLASS_NUMBER[name]; number++) ahead += this.#byClass[number]?.length ?? 0;
    return ahead * this.#intervalMs;
  }

  /**
   * Records that a connection was accepted in this turn. Node accepts one connection per turn, and does not report how
   * many wait behind it. Starts pause for a short time while connections arrive, so that the requests of the waiting
   * connections are read soon.
   */
  connectionAccepted(): void {
    this.#hasAccepted = true;
  }

  #schedule(): void {
    if (this.#steps > 0 || this.#timer !== undefined) return;
    const steps = Math.min(this.#length, MOST_STARTS);
    this.#steps = steps;
    this.#sliceEnd = 0;
    for (let i = 0; i < steps; i++) setImmediate(this.#step);
  }

  /** Starts one request. Its promises continue after this callback, so each request has its own callback. */
  readonly #step = (): void => {
    this.#steps--;
    const now = performance.now();
    if (this.#sliceEnd === 0) this.#sliceEnd = now + this.#sliceMs(now);
    if (this.#length > 0 && now < this.#sliceEnd) {
      const wait = this.#pace.wait(now, this.#inProgress());
      if (wait === 0) this.#beginNext(now);
      else this.#sleep(wait);
    }
    if (this.#steps === 0 && this.#length > 0) this.#schedule();
  };

  /** Returns how long requests may start in this turn, in milliseconds. */
  #sliceMs(now: number): number {
    const hasAccepted = this.#hasAccepted;
    this.#hasAccepted = false;
    if (hasAccepted && this.#acceptingUntil === 0) this.#acceptingUntil = now + ACCEPTING_MS;
    if (hasAccepted && now < this.#acceptingUntil) return 0;
    this.#acceptingUntil = 0;
    return Math.min(LONGEST_SLICE_MS, Math.max(SHORTEST_SLICE_MS, (this.#length * this.#intervalMs) / 2));
  }

  #beginNext(now: number): void {
    while (this.#length > 0) {
      const next = this.#byClass.find(({ length }) => length > 0)?.shift();
      this.#length--;
      if (next?.begin(now) !== true) continue;
      this.#pace.started();
      this.#noteInterval(now);
      return;
    }
  }

  /**
   * Updates the interval between two starts while the queue was not empty. Each waiting request delays the next one by
   * this interval.
   */
  #noteInterval(now: number): void {
    if (this.#lastStart > 0) this.#intervalMs += (now - this.#lastStart - this.#intervalMs) * NEWEST;
    this.#lastStart = this.#length > 0 ? now : 0;
  }

  #sleep(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#schedule();
    }, ms);
  }
}

/** A FIFO queue that removes its first item in constant time. */
class Fifo {
  #items: (Waiting | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(request: Waiting): void {
    this.#items.push(request);
  }

  shift(): Waiting | undefined {
    const first = this.#items[this.#head];
    // A request keeps the project that answers it in memory.
    this.#items[this.#head++] = undefined;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }
}
