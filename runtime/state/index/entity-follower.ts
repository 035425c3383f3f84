import type { Column } from '../../ground/api/columns.js';
import type { EntityKeeper } from '../../ground/api/entity-keeper.js';
import { inBackground } from '../../ground/core/background.js';
import { inTurns, type Pieces } from '../../ground/core/pieces.js';
import type { ColumnShape } from '../../language/frame/frame-layout.js';
import { looseColumn } from '../../language/frame/frame.js';
import { EntityDecoder } from '../store/codec/entity-decoder.js';
import type { WantedColumn } from '../store/codec/wanted-column.js';
import type { Changes, Coherence } from '../store/coherence.js';
import { entityKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';
import { resolveLayouts } from './stored-entity.js';

const KEYS_PER_READ = 500;
/** Writes are read together after this time, in milliseconds. */
const GATHER_MS = 100;
/** The time to the next try after the store failed. */
const RETRY_MS = 1000;
/** How often all entities are read again while nothing reports the writes of other processes. */
const UNTOLD_MS = 60_000;
/** A write that is not read after this time is reported as missing. */
const LATE_MS = 1000;

/** What is followed of the entities of a type. */
export interface FollowedType {
  readonly type: string;
  readonly attributes: readonly (WantedColumn & { readonly shape: ColumnShape })[];
  readonly most: number;
  readonly remedy: string;
  /** Equal for followers that one keeper can serve. */
  readonly key: string;
  open(): EntityKeeper;
}

export interface FollowerParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  readonly prefix: string;
  readonly coherence: (keyPrefixes: readonly string[]) => Coherence;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads all entities of a type for a keeper, and then each entity that is written. It hears of writes as the resident tables
 * do: of its own process by `invalidate`, of others by the coherence.
 */
export class EntityFollower implements Changes {
  keeper: EntityKeeper;
  /** Why the keeper cannot be used; undefined if it can. */
  problem: string | undefined = 'the entities are not read yet';
  #isSettled = false;
  readonly #parts: FollowerParts;
  readonly #start: string;
  readonly #coherence: Coherence;
  readonly #decoder: EntityDecoder;
  readonly #columns: readonly Column[];
  readonly #changed = new Set<string>();
  #readsAll = true;
  /** When the keeper may have missed a write first, in epoch milliseconds; undefined if it has missed none. */
  #missesSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The reads that run now; whether they succeed. */
  #working: Promise<boolean> | undefined;
  /** Requests that wait for these. */
  #waiting = 0;
  #isClosed = false;
  readonly #untold: NodeJS.Timeout;
  #told: (() => void)[] = [];

  constructor(
    readonly followed: FollowedType,
    parts: FollowerParts,
  ) {
    this.#parts = parts;
    this.keeper = followed.open();
    this.#start = entityKey(parts.prefix, followed.type, '');
    this.#decoder = new EntityDecoder(followed.attributes);
    this.#columns = followed.attributes.map(({ shape }) => looseColumn(shape, 1));
    this.#coherence = parts.coherence([this.#start]);
    this.#coherence.start(this);
    this.#untold = setInterval(() => {
      if (!this.#coherence.isCurrent() || this.problem !== undefined) this.#readAgain();
    }, UNTOLD_MS).unref();
    // While nothing reports the writes of other processes, a first read would have to be repeated, so it waits.
    if (this.#coherence.isCurrent()) void this.#work();
    else this.#wait(GATHER_MS);
  }

  /** What the keeper may lack; undefined if no write is late. */
  get lag(): string | undefined {
    if (this.#missesSince === undefined || this.#missingMs() < LATE_MS) return undefined;
    return `writes since ${new Date(this.#missesSince).toISOString()} may be missing`;
  }

  /** Resolves when all entities are read once, or the first try failed. Each read has the time limit of the store. */
  settled(): Promise<void> {
    return this.#isSettled ? Promise.resolve() : new Promise((resolve) => this.#told.push(resolve));
  }

  /**
   * Reads the writes that are reported by now.
   * @returns whether the keeper then has all of them; false also if nothing reports those of other processes
   */
  async catchUp(): Promise<boolean> {
    this.#waiting++;
    try {
      await this.settled();
      if (!this.#coherence.isCurrent() && (await this.#coherence.renew()) !== true) return false;
      // What runs now may lack the last of these writes. What begins after it has them.
      const isRead = (await this.#working) ?? true;
      return (this.#hasMore() ? await this.#work() : isRead) && this.problem === undefined;
    } finally {
      this.#waiting--;
    }
  }

  invalidate(keys: Iterable<string>): void {
    for (const key of keys) if (key.startsWith(this.#start)) this.#changed.add(key.slice(this.#start.length));
    if (this.#changed.size === 0) return;
    this.#missesSince ??= Date.now();
    this.#gather();
  }

  flush(): void {
    this.#missesSince ??= Date.now();
    this.#readAgain();
  }

  #readAgain(): void {
    this.#readsAll = true;
    this.#wait(GATHER_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#untold);
    this.#coherence.close();
    this.#settle();
  }

  /** Waits until the oldest write is old enough to be read with others. */
  #gather(): void {
    this.#wait(Math.max(0, GATHER_MS - this.#missingMs()));
  }

  /** How long a write has been missing; 0 if none is. */
  #missingMs(): number {
    return Math.max(0, Date.now() - (this.#missesSince ?? Infinity));
  }

  #wait(ms: number): void {
    if (this.#isClosed || this.#working !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#work(), ms).unref();
  }

  #work(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#working ??= this.#readDue());
  }

  /** @returns whether all that was due is read */
  async #readDue(): Promise<boolean> {
    const began = Date.now();
    let isRead = false;
    try {
      if (this.#readsAll) await this.#readAll();
      else await this.#readChanged();
      if (this.#isTooMuch()) this.#refuse();
      // What is still to be read was written since then.
      this.#missesSince = this.#hasMore() ? began : undefined;
      isRead = true;
    } catch (error) {
      this.#missesSince ??= began;
      if (!this.#isClosed) this.#parts.onError(error);
    }
    this.#settle();
    this.#working = undefined;
    if (!this.#hasMore()) return isRead;
    if (isRead) this.#gather();
    else this.#wait(RETRY_MS);
    return isRead;
  }

  #isTooMuch(): boolean {
    return this.keeper.size > this.followed.most || this.keeper.isFull === true;
  }

  #hasMore(): boolean {
    return this.#readsAll || this.#changed.size > 0;
  }

  async #readAll(): Promise<void> {
    this.#readsAll = false;
    const seen = new Set<string>();
    let cursor: string | undefined;
    try {
      do {
        const page = await this.#parts.store.scan(this.#start, cursor, KEYS_PER_READ);
        for (const key of page.keys) seen.add(key.slice(this.#start.length));
        // Only keys are read to find that there are too many, because this is repeated every minute.
        if (seen.size > this.followed.most) {
          this.#refuse();
          return;
        }
        ({ cursor } = page);
      } while (cursor !== undefined && !this.#isClosed);
      if (this.#isClosed) return;
      await this.#runAll(this.#removeOthers(seen));
      if (await this.#readEach([...seen])) this.problem = undefined;
    } catch (error) {
      this.#readsAll = true;
      throw error;
    }
  }

  /** Drops what is kept: it would be a part of the entities. */
  #refuse(): void {
    const { most, type, remedy } = this.followed;
    const much = this.keeper.isFull === true ? 'longer texts than are kept' : `more than ${most} entities`;
    this.problem = `the index has ${much} of the type ${type}; ${remedy}`;
    this.keeper = this.followed.open();
    this.#changed.clear();
  }

  /** Reads what is written, a part at a time. A part that cannot be read remains to be read. */
  async #readChanged(): Promise<void> {
    // All entities are read again before it can be used.
    if (this.problem !== undefined) this.#changed.clear();
    let rest = this.#changed.size;
    while (rest > 0 && !this.#isClosed && !this.#isTooMuch()) {
      const ids = [...firstOf(this.#changed, Math.min(rest, KEYS_PER_READ))];
      rest -= ids.length;
      for (const id of ids) this.#changed.delete(id);
      try {
        await this.#read(ids, inTurns);
      } catch (error) {
        for (const id of ids) this.#changed.add(id);
        throw error;
      }
    }
  }

  /** @returns whether all were read: not if there are too many, or the end came */
  async #readEach(all: readonly string[]): Promise<boolean> {
    for (let from = 0; from < all.length; from += KEYS_PER_READ) {
      if (this.#isClosed || this.#isTooMuch()) return false;
      await this.#read(all.slice(from, from + KEYS_PER_READ), (work) => this.#runAll(work));
      // What is written while all entities are read again does not wait for the last of them.
      if (this.problem === undefined) await this.#readChanged();
    }
    return true;
  }

  async #read(ids: readonly string[], run: (work: Pieces<void>) => Promise<void>): Promise<void> {
    const { store, layouts } = this.#parts;
    const records = await store.read(ids.map((id) => this.#start + id));
    await resolveLayouts(layouts, records);
    await run(this.#putAll(ids, records));
  }

  /** Work on all entities gives way to requests, unless one waits for it. */
  #runAll(work: Pieces<void>): Promise<void> {
    return this.#waiting > 0 ? inTurns(work) : inBackground(work);
  }

  *#removeOthers(seen: ReadonlySet<string>): Pieces<void> {
    for (const id of [...this.keeper.ids()]) {
      if (!seen.has(id)) this.keeper.remove(id);
      yield;
    }
  }

  *#putAll(ids: readonly string[], records: readonly (Buffer | null)[]): Pieces<void> {
    for (const [i, id] of ids.entries()) {
      const record = records[i] ?? null;
      // An entity that was written since then is read again.
      if (record === null) this.keeper.remove(id);
      else {
        this.#decoder.decode(record, 0, record.length, this.#columns, 0);
        yield* this.keeper.put(id, this.#columns) ?? [];
      }
      yield;
    }
  }

  #settle(): void {
    this.#isSettled = true;
    for (const resolve of this.#told.splice(0)) resolve();
  }
}

function* firstOf<T>(all: Iterable<T>, most: number): Iterable<T> {
  let count = 0;
  for (const one of all) {
    if (count++ === most) return;
    yield one;
  }
}
