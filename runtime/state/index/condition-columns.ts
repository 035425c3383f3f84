import type { EntityFollower, FollowedType } from './entity-follower.js';
import { KeptColumns } from './kept-columns.js';

type Attributes = FollowedType['attributes'];

/** The most entities of a type of which attributes are kept. */
export const MOST_KEPT_ENTITIES = 200_000;

/** A follower that is used until it is released. */
interface FollowerLease {
  readonly value: EntityFollower;
  release(): unknown;
}

/** Attributes of all entities of a type. */
export interface ConditionValues {
  readonly columns: KeptColumns;
  /** By wanted attribute: its place in the columns. */
  readonly at: readonly number[];
}

/**
 * Keeps what conditions of requests read of entities. The first condition that reads an attribute adds it: all entities of the
 * type are read then. Earlier attributes are used until that is done.
 */
export class ConditionColumns {
  /** Oldest first. Each has the attributes of the older ones of its type. */
  #leases: FollowerLease[] = [];
  #growing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(private readonly lease: (followed: FollowedType) => Promise<FollowerLease>) {}

  /**
   * Waits until all writes until now are read.
   * @returns undefined if they cannot be kept: there are too many, or nothing reports the writes of other processes
   */
  async of(type: string, attributes: Attributes): Promise<ConditionValues | undefined> {
    const follower = this.#find(type, attributes) ?? (await this.#grow(type, attributes));
    const isCurrent = await follower.catchUp();
    const columns = follower.keeper;
    if (!isCurrent || !(columns instanceof KeptColumns)) return undefined;
    const names = follower.followed.attributes.map(nameOf);
    const at = attributes.map((attribute) => names.indexOf(nameOf(attribute)));
    return { columns, at };
  }

  /** Ends it: what it keeps is released. */
  close(): void {
    this.#isClosed = true;
    for (const lease of this.#leases.splice(0)) lease.release();
  }

  #find(type: string, attributes: Attributes): EntityFollower | undefined {
    const fitting = this.#leases.flatMap(({ value }) => {
      const names = new Set(value.followed.attributes.map(nameOf));
      const fits = value.followed.type === type && attributes.every((one) => names.has(nameOf(one)));
      return fits ? [value] : [];
    });
    return fitting.find(({ problem }) => problem === undefined) ?? fitting.at(-1);
  }

  /** One after the other, so that two new attributes of a type are kept together. */
  #grow(type: string, attributes: Attributes): Promise<EntityFollower> {
    const grown = this.#growing.then(
      async () => this.#find(type, attributes) ?? (await this.#add(type, attributes)),
    );
    this.#growing = grown.catch(() => undefined);
    return grown;
  }

  async #add(type: string, attributes: Attributes): Promise<EntityFollower> {
    const older = this.#leases.filter(({ value }) => value.followed.type === type);
    const kept = [...(older.at(-1)?.value.followed.attributes ?? []), ...attributes];
    const all = [...new Map(kept.map((one) => [nameOf(one), one])).values()];
    const lease = await this.lease({
      ...{ type, attributes: all, most: MOST_KEPT_ENTITIES, remedy: 'send the ids of candidates' },
      key: JSON.stringify(['conditions', type, all]),
      open: () => new KeptColumns(all.length),
    });
    this.#leases.push(lease);
    if (this.#isClosed) this.close();
    void lease.value.settled().then(() => {
      this.#leases = this.#leases.filter((one) => !older.includes(one));
      for (const one of older) one.release();
    });
    return lease.value;
  }
}

function nameOf(attribute: Attributes[number]): string {
  return JSON.stringify(attribute);
}
