import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../api/errors.js';
import type { AdmissionObserver, AdmissionSource, ShedCause } from '../../metrics/admission-metrics.js';
import { ArrivalClock } from './arrival-clock.js';
import { CLASS_NUMBER, REQUEST_CLASSES, type RequestClass } from './request-class.js';
import { TurnQueue, type Waiting } from './turn-queue.js';

export interface AdmissionLimits {
  readonly maxInFlight: number;
  /** Wait that a ranking accepts while the queue stands, milliseconds. */
  readonly queueMs: number;
}

export const DEFAULT_ADMISSION: AdmissionLimits = { maxInFlight: 1000, queueMs: 25 };

/** Part of its time limit after which a request is expected to be answered, when it is admitted. */
const EXPECTED_PART = 0.6;
/** While the queue stands, a request waits at most this part of its time limit. */
const WAITED_PART = 0.25;
/** A request that waited less is not refused for its wait, milliseconds. */
const NO_WAIT_MS = 1;
/** Weight of the newest request in the estimate of the time that a route needs. */
const NEWEST = 0.1;

/** What the admission knows of a route. */
export interface RouteLoad {
  readonly class: RequestClass;
  /** Time limit of a request, from its head to its answer, milliseconds. */
  readonly limitMs: number;
  /** Estimated time from the start of a request to its answer, milliseconds. */
  serviceMs: number;
}

/** One admitted request. */
export interface Admitted {
  readonly load: RouteLoad;
  /** Estimated time of arrival, by `performance.now()`. */
  readonly arrived: number;
  /** When its head was read. */
  readonly headAt: number;
  /** When it got its turn; 0 before. */
  begunAt: number;
  /** Whether it needs no turn any more: it is answered, or its client is gone. */
  readonly isOver: boolean;
}

/** Decides which requests are answered, and in which order they are worked on. It lives as long as the process. */
export class Admission implements AdmissionSource {
  readonly classes = REQUEST_CLASSES.map(({ name }) => name);
  readonly #clock = new ArrivalClock();
  readonly #queue = new TurnQueue(() => this.#inProgress);
  readonly #limits: AdmissionLimits;
  readonly #observer: AdmissionObserver | undefined;
  readonly #inFlight = REQUEST_CLASSES.map(() => 0);
  /** Of all classes but health, which needs no room. */
  #total = 0;
  #inProgress = 0;

  constructor(limits: Partial<AdmissionLimits> = {}, observer?: AdmissionObserver) {
    this.#limits = { ...DEFAULT_ADMISSION, ...limits };
    this.#observer = observer;
  }

  /** When a request arrived whose head was read at `now`; call it for each request. */
  arrived(now: number): number {
    return this.#clock.arrived(now);
  }

  /** Call for each connection that is accepted. */
  connectionAccepted(): void {
    this.#queue.connectionAccepted();
  }

  inFlight(name: RequestClass): number {
    return this.#inFlight[CLASS_NUMBER[name]] ?? 0;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Decides from the head of a request alone. @returns why it is refused, if it is */
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

  /** Counts a request that is refused. */
  shed(name: RequestClass, cause: ShedCause): void {
    this.#observer?.shed(name, cause);
  }

  enter({ load }: Admitted): void {
    this.#count(load.class, 1);
  }

  /** Call once for each `enter`, when the request is answered or its client is gone. */
  leave({ load, begunAt }: Admitted, isAnswered: boolean): void {
    this.#count(load.class, -1);
    if (begunAt === 0) return;
    this.#inProgress--;
    if (!isAnswered) return;
    const took = Math.min(load.limitMs, performance.now() - begunAt);
    load.serviceMs += (took - load.serviceMs) * NEWEST;
  }

  /**
   * Calls back when it is the request's turn to use the CPU. Call it when the body is read.
   * @param next given an error if the request can no longer be answered in time; not called if it is over
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
