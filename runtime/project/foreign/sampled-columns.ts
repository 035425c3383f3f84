import type { JsonObject } from '../../ground/api/types.js';
import { FLAGS, ROLES, type Role } from './column-roles.js';
import { areListTexts, isFlag, isRepeated } from './column-shapes.js';
import { kindsOf } from './event-types.js';
import { bestFit, bestFlag, plainName } from './name-fit.js';
import { isMost, profileOf, timeOf, type ColumnProfile } from './profile.js';

export type Profiles = ReadonlyMap<string, ColumnProfile>;

const MOST_NAMED = 10;
const FLAG_POSITION = /_(index|idx|position|positions|pos|rank|slot|place)$/;

/** The columns of a sample, found by what they can mean. A column that was found counts as used. */
export class SampledColumns {
  readonly rows: readonly JsonObject[];
  readonly #profiles: Profiles;
  readonly #used = new Set<string>();

  constructor(rows: readonly JsonObject[]) {
    this.rows = rows;
    this.#profiles = profileOf(rows);
  }

  /** Finds the column whose name fits the role best. */
  find(role: Role, fits: (column: ColumnProfile) => boolean = () => true): ColumnProfile | undefined {
    const paths = [...this.#profiles.values()].filter(fits).map(({ path }) => path);
    const path = bestFit(paths, ROLES[role]);
    if (path === undefined) return undefined;
    // A ranking can carry a value such as a price, although an order has it as its revenue.
    if (role !== 'revenue') this.#used.add(path);
    return this.#profiles.get(path);
  }

  /** Finds the column that holds a list of candidates, if the rows are those of a log. */
  list(): ColumnProfile | undefined {
    const lists = [...this.#profiles.values()].filter(
      ({ path, lists: count, filled, distinct }) =>
        count > filled / 2 || (bestFit([path], ROLES.items) !== undefined && areListTexts(distinct)),
    );
    const path = bestFit(
      lists.map((one) => one.path),
      ROLES.items,
    );
    if (path === undefined) return undefined;
    const isLog = this.find('request') ?? this.time() ?? this.find('session');
    return isLog === undefined ? undefined : this.#profiles.get(path);
  }

  /** Finds the column that says what kind of event a row is. */
  type(): ColumnProfile | undefined {
    return [...this.#profiles.values()].find((column) => {
      if (bestFit([column.path], ROLES.type) === undefined || column.distinct.size > 50) return false;
      return Object.values(kindsOf(column)).some((kind) => kind !== null);
    });
  }

  item(): ColumnProfile | undefined {
    // A file of items often calls their id only id.
    return this.find('item', isScalar) ?? this.#id(isScalar);
  }

  /** Finds the time of a row. A file of clicks often calls it `clicked_at`. */
  time(): ColumnProfile | undefined {
    const ofRow = [...this.#profiles.values()].find(
      (one) => isTime(one) && one.filled >= this.rows.length * 0.98 && TIME_NAME.test(plainName(one.path)),
    );
    const found = this.find('time', isTime) ?? ofRow;
    this.use(found?.path);
    return found;
  }

  /** Finds the user, or else the session. Ids of sessions and requests count as used too. */
  user(): ColumnProfile | undefined {
    const user = this.find('user') ?? this.find('session');
    this.find('session');
    this.find('request');
    return user;
  }

  /** Finds the id of a row that is a list. */
  rowId(): ColumnProfile | undefined {
    return this.#id(() => true);
  }

  /** Columns that say for a row whether something happened, by kind of feedback. */
  flags(): Record<string, string> {
    return flagsOf(this.#profiles, this.rows.length);
  }

  /** Columns of lists of ids that something happened to, by kind of feedback. */
  listFlags(shown: string): Record<string, string> {
    const flags: Record<string, string> = {};
    for (const [event, names] of Object.entries(FLAGS)) {
      const paths = [...this.#profiles.keys()].filter((path) => path !== shown);
      const path = bestFlag(paths, names);
      if (path !== undefined) flags[event] = path;
    }
    this.use(...Object.values(flags));
    return flags;
  }

  /** Columns of the position that something happened at, by kind of feedback: `clicked_index`. */
  flagPositions(): Record<string, ColumnProfile> {
    const columns = [...this.#profiles.values()].filter((one) => isMost(one.wholes, one));
    const found: Record<string, ColumnProfile> = {};
    for (const [event, names] of Object.entries(FLAGS)) {
      const column = columns.find(({ path }) => names.includes(plainName(path).replace(FLAG_POSITION, '')));
      if (column === undefined || !FLAG_POSITION.test(plainName(column.path))) continue;
      found[event] = column;
      this.use(column.path);
    }
    return found;
  }

  /** The columns, for a message. */
  names(): string {
    const paths = [...this.#profiles.keys()];
    const more = paths.length - MOST_NAMED;
    return paths.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  }

  use(...paths: readonly (string | undefined)[]): void {
    for (const path of paths) if (path !== undefined) this.#used.add(path);
  }

  /** Columns without a role. */
  unused(): ColumnProfile[] {
    return [...this.#profiles.values()].filter(({ path }) => !this.#used.has(path));
  }

  #id(fits: (column: ColumnProfile) => boolean): ColumnProfile | undefined {
    return [...this.#profiles.values()].find(
      (one) => fits(one) && plainName(one.path) === 'id' && !isRepeated(one),
    );
  }
}

/** Columns that say for a row whether something happened, by kind of feedback. */
export function flagsOf(profiles: Profiles, rows: number): Record<string, string> {
  const flags: Record<string, string> = {};
  const paths = [...profiles.values()].filter((one) => isFlag(one, rows)).map(({ path }) => path);
  for (const [event, names] of Object.entries(FLAGS)) {
    const path = bestFlag(paths, names);
    if (path !== undefined && !Object.values(flags).includes(path)) flags[event] = path;
  }
  return flags;
}

/** Names of times that `ROLES` does not list. */
const TIME_NAME = /_(at|time|timestamp|ts)$/;

function isTime(column: ColumnProfile): boolean {
  return timeOf(column) !== undefined;
}

function isScalar({ lists }: ColumnProfile): boolean {
  return lists === 0;
}
