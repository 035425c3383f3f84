import type { FeatureRead, HydrationNode, Plan } from '../compile/plan.js';
import type { Generations } from '../../state/counters/generations.js';
import { OWN_WRITES_ONLY, type Changes, type Coherence } from '../../state/store/coherence.js';
import { counterKey } from '../../state/store/keys.js';
import { EntityTable, type TableCounts } from './entity-table.js';
import { LeasedCounters } from './leased-counters.js';
import { LeasedRecord } from './leased-record.js';
import { PlanParts } from './plan-parts.js';
import type { TablePart } from './table-part.js';

export interface ResidentOptions {
  /** The entity types to keep; undefined for all types that a plan reads. */
  readonly types?: ReadonlySet<string>;
  /** Limit of the bytes of all tables together. */
  readonly bytes: number;
  /** How long counters are kept, in milliseconds, because their writes by other processes are not reported. 0: not at all. */
  readonly counterLease?: number;
  /** Creates the coherence of the tables, given the prefixes of the keys that fill them. */
  readonly coherence: (keyPrefixes: readonly string[]) => Coherence;
}

/** What is kept beside the texts of the tables, such as their words, may take a quarter of the limit. */
const KEPT_SHARE = 4;

/** Where a node or feature read of a plan finds its cells. */
export interface PartBinding {
  readonly table: EntityTable;
  readonly part: TablePart;
  /** For each column of the read: the column of the part. */
  readonly columns: readonly number[];
}

/** The size and the counters of one table. */
export interface TableState extends Readonly<TableCounts> {
  readonly type: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The entities that this process keeps decoded, for all its plans: one table for each entity type, with one limit of
 * bytes for all. Readers must call `isCurrent` in the same turn of the event loop.
 */
export class ResidentTables implements Changes {
  readonly inFlight = new InFlight();
  /** The counters of all entities together; undefined if they are always read from the store. */
  readonly allCounters: LeasedRecord | undefined;
  readonly #options: ResidentOptions;
  #coherence: Coherence | undefined;
  #tables: readonly EntityTable[];
  #generations: Generations | undefined;
  /** By prefix of the keys that fill the part. */
  readonly #parts = new Map<string, { readonly table: EntityTable; readonly part: TablePart }>();
  /** A WeakMap, because plans are replaced while the tables stay. */
  #bindings = new WeakMap<HydrationNode | FeatureRead, PartBinding>();
  readonly #types: ReadonlySet<string> | undefined;
  readonly #counterLease: number;
  #hand = 0;
  #generation = 0;

  constructor(plans: readonly Plan[], options: ResidentOptions) {
    this.#options = options;
    this.#types = options.types;
    this.#counterLease = options.counterLease ?? 0;
    const wanted = new PlanParts(plans, this.#counterLease);
    const types = [...wanted.types].filter((type) => this.#keeps(type));
    const room = { left: options.bytes / KEPT_SHARE };
    this.#tables = types.map((type) => new EntityTable(type, wanted.partsOf(type), room));
    for (const table of this.#tables)
      for (const part of table.parts) this.#parts.set(part.keyPrefix, { table, part });
    this.#bind(wanted);
    const [plan] = plans;
    if (!this.isEmpty && this.#counterLease > 0 && plan !== undefined)
      this.allCounters = new LeasedRecord(counterKey(plan.prefix, [], []), this.#counterLease);
    this.#coherence = this.#coherenceOfParts();
  }

  #coherenceOfParts(): Coherence | undefined {
    if (this.isEmpty) return undefined;
    const followed = [...this.#parts].filter(([, { part }]) => !(part.decoder instanceof LeasedCounters));
    const prefixes = followed.map(([prefix]) => prefix);
    return prefixes.length === 0 ? OWN_WRITES_ONLY : this.#options.coherence(prefixes);
  }

  /** Uses the generations of counters of the plans that serve from now on. */
  follow(generations: Generations): void {
    this.#generations = generations;
    for (const { part } of this.#parts.values())
      if (part.decoder instanceof LeasedCounters) part.decoder.follow(generations);
  }

  /**
   * Also serves other plans from the existing tables, if the tables hold everything that they read.
   * @returns false if the plans read other columns or decode them differently; nothing is changed then
   */
  adopt(plans: readonly Plan[]): boolean {
    return this.#bind(new PlanParts(plans, this.#counterLease));
  }

  /**
   * Also serves plans that read more. A table that lacks a column begins anew, without rows; other plans than these read its
   * type from the store. If keys of a new kind are read, all rows are dropped, and writes are followed anew.
   */
  extend(plans: readonly Plan[]): void {
    if (this.adopt(plans)) return;
    const wanted = new PlanParts(plans, this.#counterLease);
    // Requests that have begun may still fill the tables that are replaced.
    const room = { left: this.#options.bytes / KEPT_SHARE };
    const before = new Map(this.#tables.map((table) => [table.type, table]));
    const known = this.#parts.size;
    for (const type of wanted.types) {
      if (!this.#keeps(type)) continue;
      const own = wanted.partsOf(type);
      const holds = own.every(({ keyPrefix, definitions }) =>
        definitions.every((one) => this.#parts.get(keyPrefix)?.part.definitions.includes(one)),
      );
      if (holds) continue;
      const anew = new EntityTable(type, own, room);
      Object.assign(anew.counts, before.get(type)?.counts);
      before.set(type, anew);
      for (const part of anew.parts) this.#parts.set(part.keyPrefix, { table: anew, part });
    }
    this.#tables = [...before.values()];
    this.#bindings = new WeakMap();
    this.#bind(wanted);
    if (this.#generations !== undefined) this.follow(this.#generations);
    if (this.#parts.size === known) return;
    this.#coherence?.close();
    this.#coherence = this.#coherenceOfParts();
    this.#coherence?.start(this);
    this.flush();
  }

  #bind(wanted: PlanParts): boolean {
    const places = new Map<string, { readonly table: EntityTable; readonly part: TablePart; at: number[] }>();
    for (const type of wanted.types) {
      if (!this.#keeps(type)) continue;
      for (const { group, keyPrefix, definitions } of wanted.partsOf(type)) {
        const held = this.#parts.get(keyPrefix);
        const at = definitions.map((definition) => held?.part.definitions.indexOf(definition) ?? -1);
        if (held === undefined || at.includes(-1)) return false;
        places.set(`${type}:${group}`, { ...held, at });
      }
    }
    for (const [read, { type, group, columns }] of wanted.taken) {
      const place = places.get(`${type}:${group}`);
      if (place === undefined) continue;
      const { table, part, at } = place;
      this.#bindings.set(
        read,
        Object.freeze({ table, part, columns: columns.map((column) => at[column] ?? -1) }),
      );
    }
    return true;
  }

  #keeps(type: string): boolean {
    return this.#types?.has(type) ?? true;
  }

  /** Whether no entity type is kept. */
  get isEmpty(): boolean {
    return this.#tables.length === 0;
  }

  /** Starts to follow the writes of other processes. */
  start(): void {
    this.#coherence?.start(this);
  }

  close(): void {
    this.#coherence?.close();
    this.flush();
  }

  /** Undefined if the type of the read is not kept. */
  bindingOf(read: HydrationNode | FeatureRead): PartBinding | undefined {
    return this.#bindings.get(read);
  }

  /** Whether the tables may be read and filled now. */
  isCurrent(): boolean {
    return this.#coherence?.isCurrent() ?? false;
  }

  /** Number of flushes. A table that was current before a flush is not current after it. */
  get generation(): number {
    return this.#generation;
  }

  /** See `Coherence.renew`. */
  renew(): Promise<boolean> | undefined {
    return this.#coherence?.renew();
  }

  invalidate(keys: Iterable<string>): void {
    for (const key of keys) {
      const idAt = idStart(key);
      const found = this.#parts.get(key.slice(0, idAt));
      if (found === undefined) {
        if (key === this.allCounters?.key) {
          this.inFlight.written(key);
          this.allCounters.drop();
        }
        continue;
      }
      this.inFlight.written(key);
      found.table.counts.invalidations++;
      found.table.invalidate(found.part, key.slice(idAt));
    }
  }

  flush(): void {
    this.#generation++;
    this.inFlight.anything();
    this.allCounters?.drop();
    for (const table of this.#tables) {
      table.flush();
      table.counts.flushes++;
    }
  }

  /**
   * Evicts rows if the tables exceed their limit, and flushes tables that are almost empty. Call it after filling them.
   */
  trim(): void {
    this.#evict();
    for (const table of this.#tables) if (table.isHollow) table.flush();
  }

  #evict(): void {
    const enough = (): boolean => this.bytes <= this.#options.bytes;
    if (enough()) return;
    // Two rounds of one clock hand over all tables: the first round may only clear the marks of recently used rows.
    for (let visits = 2 * this.#tables.length + 1; visits > 0; visits--) {
      if (this.#tables[this.#hand]?.evict(enough) === true) return;
      this.#hand = (this.#hand + 1) % this.#tables.length;
    }
  }

  get bytes(): number {
    let bytes = 0;
    for (const table of this.#tables) bytes += table.bytes;
    return bytes;
  }

  states(): TableState[] {
    return this.#tables.map((table) => ({
      type: table.type,
      rows: table.size,
      bytes: table.bytes,
      ...table.counts,
    }));
  }
}

/** Offset of the id: it follows the prefix, group and type, none of which contains a colon. */
function idStart(key: string): number {
  const group = key.indexOf(':') + 1;
  const type = key.indexOf(':', group) + 1;
  return key.indexOf(':', type) + 1;
}

/** Maximum number of written keys to remember. If there are more, no record of a read in flight is cached. */
const MOST_REMEMBERED = 65_536;

/**
 * Detects reads that an invalidation overtook. A record that was requested before its key was written may be stale, so it
 * is not cached; only the request itself uses it. Writes are remembered only while reads are in flight.
 */
class InFlight {
  #time = 0;
  /** Records of reads that began before this time are not cached. */
  #floor = 0;
  #reading = 0;
  readonly #written = new Map<string, number>();

  /** Call before a read is sent; call `end` once for each `begin`. */
  begin(): number {
    this.#reading++;
    return this.#time;
  }

  end(): void {
    if (--this.#reading === 0) this.#written.clear();
  }

  /** Records that a key was written. */
  written(key: string): void {
    if (this.#reading === 0) return;
    if (this.#written.size >= MOST_REMEMBERED) {
      this.anything();
      return;
    }
    this.#written.set(key, ++this.#time);
  }

  /** Records that any key may have been written. */
  anything(): void {
    this.#floor = ++this.#time;
    this.#written.clear();
  }

  /** True if a read that began at `begun` may have been overtaken. If false, `isOvertaken` need not be called. */
  any(begun: number): boolean {
    return begun < this.#floor || this.#written.size > 0;
  }

  isOvertaken(key: string, begun: number): boolean {
    return begun < this.#floor || (this.#written.get(key) ?? 0) > begun;
  }
}
