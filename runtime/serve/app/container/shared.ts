/** A value that is used until it is released. */
export interface Lease<T> {
  readonly value: T;
  release(): Promise<void>;
}

interface Held<T> {
  readonly value: T;
  users: number;
}

/**
 * Values that a new generation of the project reuses from the previous one, if they fit: connections, cached entities.
 * A value is closed when no generation uses it any more.
 */
export class Shared<T> {
  readonly #close: (value: T) => void | Promise<void>;
  #held: readonly Held<T>[] = [];
  #isClosed = false;

  constructor(close: (value: T) => void | Promise<void>) {
    this.#close = close;
  }

  /** The values in use, newest first. */
  *values(): Iterable<T> {
    for (const { value } of this.#held) yield value;
  }

  /** Leases the newest value that fits, or a new one. */
  async lease(fits: (value: T) => boolean, make: () => T | Promise<T>): Promise<Lease<T>> {
    let held = this.#held.find(({ value }) => fits(value));
    if (held === undefined) {
      held = { value: await make(), users: 0 };
      this.#held = [held, ...this.#held];
      if (this.#isClosed) await this.#close(held.value);
    }
    held.users++;
    return this.#leaseOf(held);
  }

  /** Closes all values, and each later one when it is made. Their leases must still be released, which closes them again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const value of this.values()) await this.#close(value);
  }

  #leaseOf(held: Held<T>): Lease<T> {
    let released = false;
    return {
      value: held.value,
      release: async () => {
        if (released) return;
        released = true;
        if (--held.users > 0) return;
        this.#held = this.#held.filter((one) => one !== held);
        await this.#close(held.value);
      },
    };
  }
}
