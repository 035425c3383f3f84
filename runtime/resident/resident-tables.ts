import type { FeatureRead, HydrationNode, Plan } from '../compile/plan.js';
import type { Changes, Coherence } from '../store/coherence.js';
import { EntityTable, type TableCounts } from './entity-table.js';
import { InFlight } from './in-flight.js';
import { PlanParts } from './plan-parts.js';
import type { TablePart } from './table-part.js';

export interface ResidentOptions {
  /** The types to keep; undefined for all that a plan reads. */
  readonly types?: ReadonlySet<string>;
  /** Most bytes of all tables together. */
  readonly bytes: number;
  /** Makes what keeps the tables true, given the starts of the keys that they are filled from. */
  readonly coherence: (keyPrefixes: readonly string[]) => Coherence;
}

/** Where a node or feature read of a plan finds its cells. */
export interface PartBinding {
  readonly table: EntityTable;
  readonly part: TablePart;
  /** The part's column for each of the read's own. */
  readonly columns: readonly number[];
}

/** What one table holds and has counted. */
export interface TableState extends Readonly<TableCounts> {
  readonly type: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The entities that this process keeps decoded, for all its plans: one table for each entity type, bounded together in
 * bytes. Whoever reads must ask `isCurrent` in the same turn of the event loop.
 */
export class ResidentTables implements Changes {
  readonly inFlight = new InFlight();
  readonly #mostBytes: number;
  readonly #coherence: Coherence | undefined;
  readonly #tables: readonly EntityTable[];
  /** By the start of the keys that fill it. */
  readonly #parts = new Map<string, { readonly table: EntityTable; readonly part: TablePart }>();
  /** Weak, since plans come and go while the tables stay. */
  readonly #bindings = new WeakMap<HydrationNode | FeatureRead, PartBinding>();
  readonly #types: ReadonlySet<string> | undefined;
  #hand = 0;
  #generation = 0;

  constructor(plans: readonly Plan[], options: ResidentOptions) {
    this.#mostBytes = options.bytes;
    this.#types = options.types;
    const wanted = new PlanParts(plans);
    const types = [...wanted.types].filter((type) => this.#keeps(type));
    this.#tables = types.map((type) => new EntityTable(type, wanted.partsOf(type)));
    for (const table of this.#tables)
      for (const part of table.parts) this.#parts.set(part.keyPrefix, { table, part });
    this.#bind(plans, wanted);
    this.#coherence = this.isEmpty ? undefined : options.coherence([...this.#parts.keys()]);
  }

  /**
   * Serves other plans too, with what is there, if that is all that they read.
   * @returns false where they read something else, or the same in another way; nothing is changed then
   */
  adopt(plans: readonly Plan[]): boolean {
    return this.#bind(plans, new PlanParts(plans));
  }

  #bind(plans: readonly Plan[], wanted: PlanParts): boolean {
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
    for (const { levels } of plans) {
      for (const read of levels.flatMap(({ nodes, features }) => [...nodes, ...features])) {
        const taken = wanted.taken(read);
        const place = taken && places.get(`${taken.type}:${taken.group}`);
        if (taken === undefined || place === undefined) continue;
        const { table, part, at } = place;
        const columns = taken.columns.map((column) => at[column] ?? -1);
        this.#bindings.set(read, Object.freeze({ table, part, columns }));
      }
    }
    return true;
  }

  #keeps(type: string): boolean {
    return this.#types?.has(type) ?? true;
  }

  /** Whether nothing is ever kept. */
  get isEmpty(): boolean {
    return this.#tables.length === 0;
  }

  /** Begins to follow what others write. */
  start(): void {
    this.#coherence?.start(this);
  }

  close(): void {
    this.#coherence?.close();
    this.flush();
  }

  /** Undefined where the read's type is not kept. */
  bindingOf(read: HydrationNode | FeatureRead): PartBinding | undefined {
    return this.#bindings.get(read);
  }

  /** Whether the tables may be read and filled now. */
  isCurrent(): boolean {
    return this.#coherence?.isCurrent() ?? false;
  }

  /** How often everything was dropped: what was current before is not current after. */
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
      if (found === undefined) continue;
      this.inFlight.written(key);
      found.table.counts.invalidations++;
      found.table.invalidate(found.part, key.slice(idAt));
    }
  }

  flush(): void {
    this.#generation++;
    this.inFlight.anything();
    for (const table of this.#tables) {
      table.flush();
      table.counts.flushes++;
    }
  }

  /** Evicts, if the tables have outgrown their bytes, and gives back what is hardly used. Call after filling them. */
  trim(): void {
    this.#evict();
    for (const table of this.#tables) if (table.isHollow) table.flush();
  }

  #evict(): void {
    const enough = (): boolean => this.bytes <= this.#mostBytes;
    if (enough()) return;
    // Two rounds of the one hand over all tables: the first may only take away what protects a row.
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

/** Where the id begins: after prefix, group and type, none of which holds a colon. */
function idStart(key: string): number {
  const group = key.indexOf(':') + 1;
  const type = key.indexOf(':', group) + 1;
  return key.indexOf(':', type) + 1;
}
