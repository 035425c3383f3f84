import type { FeatureRead, HydrationNode } from '../../compile/plan.js';
import type { PartBinding, ResidentTables } from '../../resident/resident-tables.js';

/** One request's dealings with the resident tables, from its first look-up to the last record that it keeps. */
export class ResidentSession {
  readonly #tables: ResidentTables;
  /** When its reads began, by the count of `InFlight`; undefined before and after. */
  #begun: number | undefined;
  #current = false;
  /** The tables' generation of which this request was told, since it began, that they are current. */
  #renewed = -1;

  constructor(tables: ResidentTables) {
    this.#tables = tables;
  }

  /**
   * Call before `look`, and wait for it. A process that is busy hears late from Redis; a short question then is cheaper
   * than to read everything from the store, which would keep it busy all the more.
   */
  renewal(): Promise<void> | undefined {
    if (this.#isCurrent()) return undefined;
    // Of before the question: what is dropped while it is under way may have been dropped for a lost connection.
    const { generation } = this.#tables;
    return this.#tables.renew()?.then((isTold) => {
      if (isTold) this.#renewed = generation;
    });
  }

  #isCurrent(): boolean {
    return this.#tables.isCurrent() || this.#renewed === this.#tables.generation;
  }

  /** Call before the look-ups of a round trip: the tables may be used until the next await, or not at all. */
  look(): void {
    this.#current = this.#isCurrent();
    if (this.#current) this.#begun ??= this.#tables.inFlight.begin();
  }

  /** Where a read looks first; undefined where only the store can tell. */
  bindingOf(read: HydrationNode | FeatureRead, count: number): PartBinding | undefined {
    const binding = this.#tables.bindingOf(read);
    if (this.#current || binding === undefined) return binding;
    binding.table.counts.bypasses += count;
    return undefined;
  }

  /** Whether a record that was read may be kept: not if its key was written meanwhile. */
  mayKeep(keyPrefix: string, id: string): boolean {
    const begun = this.#begun;
    if (begun === undefined) return false;
    const { inFlight } = this.#tables;
    return !inFlight.any(begun) || !inFlight.isOvertaken(keyPrefix + id, begun);
  }

  /** Says that records were kept. */
  filled(): void {
    this.#tables.trim();
  }

  /** Call when nothing more will be kept; again does no harm. */
  end(): void {
    if (this.#begun === undefined) return;
    this.#begun = undefined;
    this.#tables.inFlight.end();
  }
}
