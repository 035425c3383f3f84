import type { FeatureRead, HydrationNode } from '../../compile/plan.js';
import { LeasedCounters } from '../../resident/leased-counters.js';
import type { PartBinding, ResidentTables } from '../../resident/resident-tables.js';

/** The use of the resident tables by one request, from its first lookup to the last record that it keeps. */
export class ResidentSession {
  readonly #tables: ResidentTables;
  /** Start of its reads, in the time of `InFlight`; undefined before and after. */
  #begun: number | undefined;
  #current = false;
  /** The generation of the tables that a renewal of this request confirmed as current. */
  #renewed = -1;

  constructor(tables: ResidentTables) {
    this.#tables = tables;
  }

  /**
   * Call and await this before `look`. In a busy process, messages of Redis arrive late. A short confirmation is
   * cheaper than reading everything from the store, which would make the process even busier.
   */
  renewal(): Promise<void> | undefined {
    if (this.#isCurrent()) return undefined;
    // The generation before the renewal was sent: a flush while it is in flight may be due to a lost connection.
    const { generation } = this.#tables;
    return this.#tables.renew()?.then((isConfirmed) => {
      if (isConfirmed) this.#renewed = generation;
    });
  }

  #isCurrent(): boolean {
    return this.#tables.isCurrent() || this.#renewed === this.#tables.generation;
  }

  /** Call before the lookups of a round trip: decides whether the tables may be used until the next await. */
  look(): void {
    this.#current = this.#isCurrent();
    this.#begun ??= this.#tables.inFlight.begin();
  }

  /** The table and part that a read looks up first; undefined if only the store can be used. */
  bindingOf(read: HydrationNode | FeatureRead, count: number): PartBinding | undefined {
    const binding = this.#tables.bindingOf(read);
    // The lease of counters does not depend on invalidations. Without the table, a request would see newer counts than the
    // next one, which finds the table current again.
    if (this.#current || binding?.part.decoder instanceof LeasedCounters) return binding;
    if (binding === undefined) return undefined;
    binding.table.counts.bypasses += count;
    return undefined;
  }

  /** The record of the counters of all entities together; undefined if it must be read from the store. */
  allCounters(now: number): Buffer | null | undefined {
    return this.#tables.allCounters?.at(now);
  }

  /** Keeps that record for other requests, if its key was not written during the read. */
  keepAllCounters(record: Buffer | null, now: number): void {
    const { allCounters } = this.#tables;
    if (allCounters !== undefined && this.mayKeep(allCounters.key, '')) allCounters.keep(record, now);
  }

  /** True if a record may be cached, i.e. its key was not written during the read. */
  mayKeep(keyPrefix: string, id: string): boolean {
    const begun = this.#begun;
    if (begun === undefined) return false;
    const { inFlight } = this.#tables;
    return !inFlight.any(begun) || !inFlight.isOvertaken(keyPrefix + id, begun);
  }

  /** Call it after records were cached. */
  filled(): void {
    this.#tables.trim();
  }

  /** Call it when no more records will be cached. It is idempotent. */
  end(): void {
    if (this.#begun === undefined) return;
    this.#begun = undefined;
    this.#tables.inFlight.end();
  }
}
