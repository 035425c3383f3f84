/** What a table is told of writes that other processes make. */
export interface Changes {
  /** These keys of the store may have been written. */
  invalidate(keys: Iterable<string>): void;
  /** Anything may have been written. */
  flush(): void;
}

/** Keeps tables true to a store that others write to. */
export interface Coherence {
  /** Begins to tell; returns at once. */
  start(changes: Changes): void;
  /**
   * Whether everything written until a short while ago (its lease) has been told. Where it is false a table is neither
   * read nor filled.
   */
  isCurrent(): boolean;
  /**
   * Asks whether everything written until now has been told, where the last word is too old only because this process
   * was busy. Undefined where there is nobody to ask, or the last question went unanswered.
   */
  renew(): Promise<boolean> | undefined;
  close(): void;
}

/** For a store that this process alone writes to: its own writes are told by `watchWrites`. */
export const OWN_WRITES_ONLY: Coherence = {
  start: () => undefined,
  isCurrent: () => true,
  renew: () => undefined,
  close: () => undefined,
};
