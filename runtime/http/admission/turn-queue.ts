import { performance } from 'node:perf_hooks';
import { CLASS_NUMBER, REQUEST_CLASSES, type RequestClass } from './request-class.js';
import { StartPace } from './start-pace.js';

/**
 * Requests may start for half of the estimated wait in one turn of the event loop, within these bounds in milliseconds.
 * Then replies and new requests are read. The more requests come, the larger are the batches in which they are read and
 * answered, and the less each costs: its client is woken less often.
 */
const SHORTEST_SLICE_MS = 0.5;
const LONGEST_SLICE_MS = 8;
/** Most requests that start in one turn. */
const MOST_STARTS = 16;
/** Connections are accepted for so long at a time while nothing starts, milliseconds. */
const ACCEPTING_MS = 8;
/** Weight of the newest interval between two starts in the estimate. */
const NEWEST = 0.05;
/** A queue that has not been empty for so long is a standing queue, in milliseconds (the interval of RFC 8289). */
const STANDING_MS = 100;

/** A request that waits until it may use the CPU. */
export interface Waiting {
  readonly class: RequestClass;
  /** When its wait began, by `performance.now()`. */
  readonly since: number;
  /** Starts it, or refuses it; called once, in a callback of its own. @returns whether it was started */
  begin(now: number): boolean;
}

/**
 * The requests that wait for the CPU. They start one after the other, so that each is finished soon after its start. If
 * all started at once, all would be finished late. The most important class goes first, and the oldest of a class.
 *
 * Starts take place in slices between the reads of the event loop: work that was begun continues before more is begun.
 */
export class TurnQueue {
  readonly #byClass = REQUEST_CLASSES.map(() => new Fifo());
  readonly #pace = new StartPace();
  readonly #inProgress: () => number;
  #length = 0;
  #emptyAt = performance.now();
  /** Immediates of this turn that have not run. */
  #steps = 0;
  #sliceEnd = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Time from one start to the next. */
  #intervalMs = 0;
  /** When the last request started; 0 if none waited behind it. */
  #lastStart = 0;
  #hasAccepted = false;
  #acceptingUntil = 0;

  /** @param inProgress how many requests have started and are not finished */
  constructor(inProgress: () => number) {
    this.#inProgress = inProgress;
  }

  get length(): number {
    return this.#length;
  }

  enter(request: Waiting): void {
    if (this.#length === 0) this.#emptyAt = performance.now();
    this.#length++;
    this.#byClass[CLASS_NUMBER[request.class]]?.push(request);
    this.#schedule();
  }

  /**
   * Whether the queue stands: it has not been empty for a while. A burst makes a queue too, and that one dissolves by
   * itself; one that stands only adds delay (Nichols and Jacobson, RFC 8289, section 3).
   */
  isStanding(now: number): boolean {
    return this.#length > 0 && now - this.#emptyAt > STANDING_MS;
  }

  /** Estimated wait of a request that enters now, in milliseconds: of those that would start before it. */
  waitOf(name: RequestClass): number {
    if (this.#length === 0) return 0;
    let ahead = 0;
    for (let number = 0; number <= CLASS_NUMBER[name]; number++) ahead += this.#byClass[number]?.length ?? 0;
    return ahead * this.#intervalMs;
  }

  /**
   * Says that a connection was accepted in this turn. Node accepts one connection a turn, and nothing tells how many wait
   * behind it with their requests. So that those are seen soon, nothing starts for a while as long as connections come.
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

  /** Starts one request. Its promises continue after this callback, so that each request has a callback of its own. */
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

  /** How long requests may start in this turn. */
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

  /** Between two starts the queue was not empty: so long does each of those that wait make the next one wait. */
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

/** A queue of which the first is taken in constant time. */
class Fifo {
  #items: Waiting[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(request: Waiting): void {
    this.#items.push(request);
  }

  shift(): Waiting | undefined {
    const first = this.#items[this.#head++];
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }
}
