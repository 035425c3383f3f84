import { MillraceError } from '../../../ground/api/errors.js';

/** The memory budget for the bodies of all requests together, in bytes. */
export class BodyMemory {
  #held = 0;

  constructor(readonly most: number = DEFAULT_BODY_MEMORY) {}

  /** The number of bytes that requests hold now. */
  get held(): number {
    return this.#held;
  }

  /** Takes bytes, or returns them if the number is negative. @returns false if there is no room for them */
  take(bytes: number): boolean {
    if (bytes > 0 && this.#held + bytes > this.most) return false;
    this.#held += bytes;
    return true;
  }
}

/** The memory that one request holds, until it is released. */
export class BodyShare {
  readonly #memory: BodyMemory;
  #bytes = 0;
  #isOver = false;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  /** Sets how many bytes are held. @throws MillraceError overloaded if the budget has no room for them */
  hold(bytes: number): void {
    if (this.#isOver || bytes === this.#bytes) return;
    if (!this.#memory.take(bytes - this.#bytes))
      throw new MillraceError('overloaded', 'the bodies of other requests take all the memory for bodies');
    this.#bytes = bytes;
  }

  /** Releases all bytes. Later calls of `hold` do nothing. */
  release(): void {
    this.hold(0);
    this.#isOver = true;
  }
}

export const DEFAULT_BODY_MEMORY = 128 * 1024 * 1024;
