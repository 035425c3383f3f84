import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../../ground/api/errors.js';
import type { AdmissionObserver, AdmissionSource, ShedCause } from '../../metrics/admission-metrics.js';
import { ArrivalClock } from './arrival-clock.js';
import { CLASS_NUMBER, REQUEST_CLASSES, type RequestClass } from './request-class.js';
import { TurnQueue, type Waiting } from './turn-queue.js';

export interface AdmissionLimits {
  readonly maxInFlight: number;
  /** The longest wait that a ranking accepts while the queue is standing, in milliseconds. */
  readonly queueMs: number;
}

export const DEFAULT_ADMISSION: AdmissionLimits = { maxInFlight: 1000, queueMs: 100 };

/** A request is admitted only if its answer is expected within this part of its time limit. */
const EXPECTED_PART = 0.6;
/** The part of its time limit that a request may wait while the queue is standing. */
const WAITED_PART = 0.25;
/** A request that waits no longer than this is not shed for its wait, in milliseconds. */
const NO_WAIT_MS = 1;
/** The weight of the newest request in the estimated service time of a route. */
const NEWEST = 0.1;

/** The load that a route causes. */
export interface RouteLoad {
  readonly class: RequestClass;
  /** The time limit of a request, from its head to its answer, in milliseconds. */
  readonly limitMs: number;
  /** The estimated time from the start of a request to its answer, in milliseconds. */
  serviceMs: number;
}

/** One admitted request. */
export interface Admitted {
  readonly load: RouteLoad;
  /** The estimated time of arrival, by `performance.now()`. */
  readonly arrived: number;
  /** The time when its head was read. */
  readonly headAt: number;
  /** The time when it got its turn; 0 before that. */
  begunAt: number;
  /** True if it no longer needs a turn: it is answered, or its client has disconnected. */
  readonly isOver: boolean;
}

/** Admits or sheds requests, and orders the admitted ones. It lives as long as the process. */
export class Admission implements AdmissionSource {
  readonly classes = REQUEST_CLASSES.map(({ name }) => name);
  readonly #clock = new ArrivalClock();
  readonly #queue = new TurnQueue(() => this.#inProgress);
  readonly #limits: AdmissionLimits;
  readonly #observer: AdmissionObserver | undefined;
  readonly #inFlight = REQUEST_CLASSES.map(() => 0);
  /** Counts all classes but health, which has no limit. */
  #total = 0;
  #inProgress = 0;

  constructor(limits: Partial<AdmissionLimits> = {}, observer?: AdmissionObserver) {
    this.#limits = { ...DEFAULT_ADMISSION, ...limits };
    this.#observer = observer;
  }

  /** Returns the estimated time of arrival of a request whose head was read at `now`. Call it for each request. */
  arrived(now: number): number {
    return this.#clock.arrived(now);
  }

  /** Call this for each accepted connection. */
  connectionAccepted(): void {
    this.#queue.connectionAccepted();
  }

  inFlight(name: RequestClass): number {
    return this.#inFlight[CLASS_NUMBER[name]] ?? 0;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Decides from the head of a request alone whether to shed it. @returns the cause, or undefined to admit it */
  refuses(load: RouteLoad, arrived: number, now: number): ShedCause | undefined {
    const { class: name, limitMs, serviceMs } = load;
    const { share } = REQUEST_CLASSES[CLASS_NUMBER[name]] as { readonly share: number };
    if (share === Infinity) return undefined;
    if (this.#total >= Math.max(1, this.#limits.maxInFlight * share)) return 'in_flight';
    const wait = now - arrived + this.#queue.waitOf(name);
    if (wait <= NO_WAIT_MS) return undefined;
    const bearable = Math.min(this.#limits.queueMs * share, limitMs * WAITED_PART);
    if (wait > bearable && this.#queue.isStanding(now)) return 'queue';
    return wait + serviceMs > limitMs * EXPECTED_PART ? 'deadline' : undefined;
  }

  /** Counts a request that is shed. */
  shed(name: RequestClass, cause: ShedCause): void {
    this.#observer?.shed(name, cause);
  }

  enter({ load }: Admitted): void {
    this.#count(load.class, 1);
  }

  /** Call this once for each `enter`, when the request is answered or its client has disconnected. */
  leave({ load, begunAt }: Admitted, isAnswered: boolean): void {
    this.#count(load.class, -1);
    if (begunAt === 0) return;
    this.#inProgress--;
    if (!isAnswered) return;
    const took = Math.min(load.limitMs, performance.now() - begunAt);
    load.serviceMs += (took - load.serviceMs) * NEWEST;
  }

  /**
   * Calls `next` when it is the request's turn to use the CPU. Call this after the body is read.
   * @param next receives an error if the request can no longer be answered in time; not called if the request is over
   */
  takeTurn(request: Admitted, next: (error?: MillraceError) => void): void {
    const { load, arrived, headAt } = request;
    const since = performance.now() - (headAt - arrived);
    const begin = (now: number): boolean => {
      if (request.isOver) return false;
      const waited = now - since;
      this.#observer?.waited(load.class, waited / 1000);
      if (waited > NO_WAIT_MS && arrived + load.limitMs - now < load.serviceMs) {
        this.shed(load.class, 'deadline');
        next(new MillraceError('overloaded', `the request waited for ${Math.round(waited)} ms`));
        return false;
      }
      request.begunAt = now;
      this.#inProgress++;
      next();
      return true;
    };
    this.#queue.enter({ class: load.class, since, begin } satisfies Waiting);
  }

  #count(name: RequestClass, by: 1 | -1): void {
    const number = CLASS_NUMBER[name];
    this.#inFlight[number] = (this.#inFlight[number] ?? 0) + by;
    if (number > 0) this.#total += by;
  }
}
