import { setMaxListeners } from 'node:events';
import { MillraceError } from '../api/errors.js';
import type { Usage } from './usage.js';

export interface DeadlineOptions {
  /** Counts work that may outlast the request. */
  readonly usage?: Usage | undefined;
  /** When the time started, by `performance.now()`. By default, now. */
  readonly started?: number | undefined;
  /** Work that this work belongs to. When its deadline is over, this one is over too. */
  readonly parent?: Deadline | undefined;
  /** Whether the timer starts only when something waits. `check` compares the clock in any case. */
  readonly isLazy?: boolean | undefined;
}

/**
 * The time limit of a request. It is over when the time is over, or earlier if the client disconnects.
 *
 * Most requests never wait for anything, so the AbortSignal is created when it is first used: it costs several
 * microseconds.
 */
export class Deadline {
  readonly started: number;
  readonly usage: Usage | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #parent: Deadline | undefined;
  #leaveParent: (() => void) | undefined;
  #error: Error | undefined;
  #listeners: Set<(error: Error) => void> | undefined;
  #controller: AbortController | undefined;

  constructor(
    readonly ms: number,
    { usage, started = performance.now(), parent, isLazy = false }: DeadlineOptions = {},
  ) {
    this.started = started;
    this.usage = usage ?? parent?.usage;
    this.#parent = parent;
    if (!isLazy) this.#start();
  }

  /** Aborted when the deadline is over. */
  get signal(): AbortSignal {
    this.#start();
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // The signal has one listener per concurrent read. Node.js would print a leak warning above ten listeners.
      setMaxListeners(0, this.#controller.signal);
      if (this.#error !== undefined) this.#controller.abort(this.#error);
    }
    return this.#controller.signal;
  }

  /** The milliseconds that are left; 0 if it is over. */
  get left(): number {
    if (this.#error !== undefined) return 0;
    return Math.max(0, Math.min(this.#left(), this.#parent?.left ?? Infinity));
  }

  /** Ends the time early. */
  abort(error: Error): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#controller?.abort(error);
    for (const listener of this.#listeners ?? []) listener(error);
  }

  /**
   * Calls the listener when the deadline is over, or at once if it is over already.
   * @returns a function that removes the listener
   */
  whenOver(listener: (error: Error) => void): () => void {
    this.#start();
    if (this.#error !== undefined) {
      listener(this.#error);
      return () => undefined;
    }
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Starts the timer, and listens to the parent. */
  #start(): void {
    if (this.#error !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.abort(exceeded(this.ms)), Math.max(0, this.#left()));
    this.#leaveParent = this.#parent?.whenOver((error) => this.abort(error));
  }

  #left(): number {
    return this.started + this.ms - performance.now();
  }

  /**
   * Compares the clock too, because the timer cannot fire while a component computes without a pause.
   * @throws MillraceError deadline_exceeded once the time limit is over
   */
  check(): void {
    const isAlone = this.#error === undefined && this.#parent === undefined;
    if (isAlone && performance.now() <= this.started + this.ms) return;
    const error = this.#over();
    if (error !== undefined) throw error;
  }

  #over(): Error | undefined {
    if (this.#error === undefined && this.#left() < 0) this.abort(exceeded(this.ms));
    // A lazy deadline does not listen to its parent before it starts.
    if (this.#error === undefined && this.#parent !== undefined) {
      const ofParent = this.#parent.#over();
      if (ofParent !== undefined) this.abort(ofParent);
    }
    return this.#error;
  }

  /** Settles like the promise, or rejects with the deadline's error if that comes first. */
  async within<T>(work: Promise<T>): Promise<T> {
    this.usage?.hold(work);
    this.#start();
    if (this.#error !== undefined) {
      // The work started too late. Its own rejection is ignored, since an unhandled rejection would end the process.
      work.catch(() => undefined);
      throw this.#error;
    }
    let stop: () => void = () => undefined;
    const over = new Promise<never>((_resolve, reject) => {
      stop = this.whenOver(reject);
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      stop();
    }
  }

  /** Call this when the request is answered. Its time cannot run out any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#leaveParent?.();
  }
}

/** Why work ends whose client closed the connection. */
export class ClientLeft extends MillraceError {
  constructor() {
    super('deadline_exceeded', 'the client closed the connection');
  }
}

/** The error of a request that exceeded its limit. */
export function exceeded(ms: number): MillraceError {
  return new MillraceError('deadline_exceeded', `the time limit of ${ms} ms is over`);
}
