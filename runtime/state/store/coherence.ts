/** Receives the invalidations of writes by other processes. */
export interface Changes {
  /** These keys of the store may have been written. */
  invalidate(keys: Iterable<string>): void;
  /** Any key may have been written. */
  flush(): void;
}

/** Invalidates tables when other processes write to the store. */
export interface Coherence {
  /** Starts to report changes; returns at once. */
  start(changes: Changes): void;
  /**
   * Whether all writes until one lease ago have been reported. While it is false, tables are neither read nor filled.
   */
  isCurrent(): boolean;
  /**
   * Checks whether all writes until now have been reported. Use it if `isCurrent` is false only because this process was
   * busy. Undefined if there is no server to ask, or the last check got no answer.
   */
  renew(): Promise<boolean> | undefined;
  close(): void;
}

/** For a store that other processes write to and that reports no writes: tables are neither read nor filled. */
export const NO_NEWS: Coherence = {
  start: () => undefined,
  isCurrent: () => false,
  renew: () => undefined,
  close: () => undefined,
};

/** For a store that only this process writes to: `watchWrites` reports its own writes. */
export const OWN_WRITES_ONLY: Coherence = {
  start: () => undefined,
  isCurrent: () => true,
  renew: () => undefined,
  close: () => undefined,
};
