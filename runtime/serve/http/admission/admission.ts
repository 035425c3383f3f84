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

export const DEFAULT_ADMISSION: AdmissionLimits = { maxInFlight: 1000, queueMs: 20 };

/** A request is admitted only if its answer is expected within this part of its time limit. */
const EXPECTED_PART = 0.6;
/**
 * Fewer requests that wait are no overload, however long the queue stands: clients that send after each answer keep as many
 * waiting. The part of the time limit is larger, because such a queue does not grow.
 */
const FEW_WAITING = 64;
const EXPECTED_PART_OF_FEW = 0.9;
/** The part of its time limit that a request may wait while the queue is standing. */
const WAITED_PART = 0.25;
/** A request that waits no longer than this is not shed for its wait, in milliseconds. */
const NO_WAIT_MS = 1;
/** The weight of the newest request in the estimated service time of a route. */
const NEWEST = 0.1;
/** The weight of the newest request in the share of requests that come with a connection of their own. */
const NEWEST_CONNECTION = 0.005;
/**
 * So many accepted connections may wait for their first request to be counted. Some never send one, such as those of TCP probes,
 * and must not count for later requests.
 */
const MOST_ACCEPTED = 100;
/** Above this share, a storm of connections may be dropped. Pools that open connections during an overload stay below it. */
const STORM_SHARE = 0.8;

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
  /** The accepted connections that no request was counted for yet. */
  #accepted = 0;
  /** The share of the latest requests that came with a connection of their own. */
  #ownConnections = 0;

  constructor(limits: Partial<AdmissionLimits> = {}, observer?: AdmissionObserver) {
    this.#limits = { ...DEFAULT_ADMISSION, ...limits };
    this.#observer = observer;
  }

  /** Returns the estimated time of arrival of a request whose head was read at `now`. Call it for each request. */
  arrived(now: number): number {
    const isOwn = this.#accepted > 0;
    if (isOwn) this.#accepted--;
    this.#ownConnections += (Number(isOwn) - this.#ownConnections) * NEWEST_CONNECTION;
    return this.#clock.arrived(now);
  }

  /** Call this for each accepted connection. */
  connectionAccepted(): void {
    this.#accepted = Math.min(this.#accepted + 1, MOST_ACCEPTED);
    this.#queue.connectionAccepted();
  }

  /** Call this for each connection that is dropped when it is accepted. */
  connectionDropped(): void {
    this.#queue.connectionAccepted();
  }

  /**
   * True if most requests come with a connection of their own, and more come than can be answered. Further connections are then
   * dropped when they are accepted, because to refuse their requests would cost several times as much. It begins at half of
   * the wait at which requests are refused, so that most of those that are read are also answered.
   */
  isStorm(now: number): boolean {
    return (
      this.#ownConnections > STORM_SHARE &&
      this.#isOverload(this.#queue.waitOf('ranking'), this.#limits.queueMs / 2, now)
    );
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
    if (this.#isOverload(wait, bearable, now)) return 'queue';
    const part = this.#queue.length < FEW_WAITING ? EXPECTED_PART_OF_FEW : EXPECTED_PART;
    return wait + serviceMs > limitMs * part ? 'deadline' : undefined;
  }

  #isOverload(wait: number, bearable: number, now: number): boolean {
    return wait > bearable && this.#queue.length >= FEW_WAITING && this.#queue.isStanding(now);
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
