import type { JsonObject, JsonValue } from '../../api/types.js';
import {
  bestFit,
  FLAGS,
  NOT_KNOWN_IN_ADVANCE,
  plainName,
  ROLES,
  TYPES,
  VIEWS,
  type Role,
} from './column-roles.js';
import { isGa4 } from './ga4.js';
import type { EntitySource, FeedbackSource, ImportSource, RankingSource } from './mapping.js';
import { isMetarank } from './metarank.js';
import { isNumeric, profileOf, type ColumnProfile } from './profile.js';
import { isMissing, valueAt } from './read-values.js';

/** The first rows of a file. */
export interface FileSample {
  /** The path, as it is written into the mapping. */
  readonly file: string;
  readonly rows: readonly JsonObject[];
}

/** What the import goes into. */
export interface GuessTarget {
  /** The entity type of the candidates. */
  readonly candidateType: string;
  /** Fields of a request, and attributes that its candidates carry; undefined: all columns that are left. */
  readonly known?: { readonly fields: ReadonlySet<string>; readonly carried: ReadonlySet<string> };
}

/** What is proposed for a file. */
export interface FileGuess {
  readonly file: string;
  readonly sources: readonly ImportSource[];
  /** What the user should know of the guess, a sentence each. */
  readonly notes: readonly string[];
}

type Profiles = ReadonlyMap<string, ColumnProfile>;

/** A proposal that fits less of the sample than this is not made. */
const MOST_REPEATS = 0.05;
const LEAST_MEAN_LENGTH = 1.2;
const POOL = 24;

/** Proposes how the files are read, from the names of their columns and from what the columns hold. */
export function guessSources(samples: readonly FileSample[], target: GuessTarget): FileGuess[] {
  return samples.map((sample) => {
    const { file, rows } = sample;
    if (rows.length === 0) return { file, sources: [], notes: ['The file has no rows that can be read.'] };
    const ready = share(rows, isMetarank) > 0.5 ? 'metarank' : share(rows, isGa4) > 0.5 ? 'ga4' : undefined;
    if (ready !== undefined)
      return {
        file,
        sources: [{ files: [file], map: ready }],
        notes: [`The rows are events of ${ready === 'ga4' ? 'Google Analytics 4' : 'Metarank'}.`],
      };
    return new FileGuesser(sample, target).guess();
  });
}

class FileGuesser {
  readonly #file: string;
  readonly #rows: readonly JsonObject[];
  readonly #profiles: Profiles;
  readonly #target: GuessTarget;
  readonly #notes: string[] = [];
  /** Columns that have a role. */
  readonly #used = new Set<string>();

  constructor({ file, rows }: FileSample, target: GuessTarget) {
    this.#file = file;
    this.#rows = rows;
    this.#profiles = profileOf(rows);
    this.#target = target;
  }

  guess(): FileGuess {
    return { file: this.#file, sources: this.#sources(), notes: this.#notes };
  }

  #sources(): readonly ImportSource[] {
    const list = this.#listColumn();
    if (list !== undefined) return [this.#nested(list)];
    const typed = this.#typeColumn();
    const item = this.#itemColumn();
    if (item === undefined) return this.#users();
    if (typed !== undefined) return this.#typed(typed, item);
    const flags = this.#flags(this.#profiles, this.#rows);
    const position = this.#column('position', isPosition);
    const time = this.#timeColumn();
    if (Object.keys(flags).length > 0 || (position !== undefined && this.#isRepeated(item)))
      return [this.#flat(item, time, position, flags)];
    const isLog =
      time !== undefined || this.#column('request') !== undefined || this.#column('session') !== undefined;
    const kind = this.#kindByName();
    if (kind === 'impression' && isLog) return [this.#flat(item, time, position, {})];
    if (kind !== undefined && kind !== 'items' && isLog) return [this.#acts(item, kind, undefined)];
    if (!this.#isRepeated(item)) return [this.#items(item)];
    if (isLog && this.#column('user') !== undefined) return [this.#flat(item, time, position, {})];
    this.#notes.push('It is not clear what a row of this file is, so the file is not read.');
    return [];
  }

  /** Rows that hold a list of candidates each. */
  #nested(list: ColumnProfile): RankingSource {
    const values = this.#rows.map((row) => valueAt(row, list.path));
    const items = values.flatMap((value) => asList(value));
    const areObjects = items.some((item) => typeof item === 'object');
    const profiles = profileOf(items);
    const id = areObjects ? (bestFit(profiles.keys(), [...ROLES.item, 'id']) ?? 'id') : '.';
    const position = areObjects ? bestFit(profiles.keys(), ROLES.position) : undefined;
    const flags = areObjects ? this.#flags(profiles, items as JsonObject[]) : {};
    const lists = this.#listFlags(list.path);
    const score = areObjects ? bestFit(profiles.keys(), ROLES.score) : undefined;
    const carried = areObjects
      ? [...profiles.keys()].filter(
          (path) =>
            ![id, position, score, ...Object.values(flags)].includes(path) &&
            isFeature(profiles.get(path), path),
        )
      : [];
    this.#used.add(list.path);
    const request = this.#column('request') ?? this.#rowId();
    const time = this.#timeColumn();
    const user = this.#user();
    this.#notes.push(
      `A row is a list of candidates (${list.path}); the order of the list is the order shown.`,
    );
    if (Object.keys({ ...flags, ...lists }).length === 0) this.#notes.push('It has no column of clicks.');
    return {
      files: [this.#file],
      into: 'rankings',
      map: clean({
        request: request?.path,
        time: time?.path,
        user: user?.path,
        items: list.path,
        [this.#target.candidateType]: id,
        position,
        score,
      }),
      ...this.#firstPosition(position === undefined ? undefined : profiles.get(position)),
      ...section('feedback', { ...flags, ...lists }),
      ...section('send', this.#context(false)),
      ...section('carry', this.#named(carried, this.#target.known?.carried)),
    };
  }

  /** Rows that hold one candidate that was shown each. */
  #flat(
    item: ColumnProfile,
    time: ColumnProfile | undefined,
    position: ColumnProfile | undefined,
    flags: Readonly<Record<string, string>>,
    where?: RankingSource['where'],
    rows = this.#rows,
  ): RankingSource {
    this.#use(item, time, position);
    for (const path of Object.values(flags)) this.#used.add(path);
    const user = this.#user();
    const request = this.#request(rows, item, time, position, user);
    const isPooled = request === undefined;
    if (time === undefined)
      this.#notes.push('There is no column of times: a row counts as a second later than the row before it.');
    const { send, carry } = this.#placed(rows, request, isPooled);
    return {
      files: [this.#file],
      into: 'rankings',
      ...(where === undefined ? {} : { where }),
      map: clean({
        request: request?.length === 1 ? request[0] : request,
        time: time?.path,
        user: isPooled ? undefined : user?.path,
        [this.#target.candidateType]: item.path,
        position: position?.path,
      }),
      ...this.#firstPosition(position),
      ...section('feedback', flags),
      ...section('send', send),
      ...section('carry', carry),
      ...(isPooled ? { pool: this.#poolSize(item) } : {}),
    };
  }

  /** Rows whose type says what they are. */
  #typed(type: ColumnProfile, item: ColumnProfile): readonly ImportSource[] {
    const kinds = kindsOf(type);
    const shown = Object.keys(kinds).filter((value) => kinds[value] === 'impression');
    const time = this.#timeColumn();
    const position = this.#column('position', isPosition);
    this.#use(type, item, time, position);
    const sources: ImportSource[] = [];
    if (shown.length > 0) {
      const rows = this.#rows.filter((row) => shown.includes(String(valueAt(row, type.path))));
      sources.push(this.#flat(item, time, position, {}, { [type.path]: shown }, rows));
    }
    const acts = Object.fromEntries(
      Object.entries(kinds).map(([value, kind]) => [value, kind === 'impression' ? null : kind]),
    );
    const unused = Object.keys(acts).filter((value) => acts[value] === null && !shown.includes(value));
    if (unused.length > 0) this.#notes.push(`Rows with ${type.path} ${unused.join(', ')} are not used.`);
    if (Object.values(acts).some((kind) => kind !== null)) sources.push(this.#acts(item, acts, type));
    return sources;
  }

  #acts(
    item: ColumnProfile,
    event: FeedbackSource['event'],
    type: ColumnProfile | undefined,
  ): FeedbackSource {
    const time = this.#timeColumn();
    const revenue = this.#column('revenue', isNumeric);
    this.#notes.push(typeof event === 'string' ? `A row is one ${event}.` : 'A row is what its type says.');
    return {
      files: [this.#file],
      into: 'feedback',
      map: clean({
        request: this.#column('request')?.path,
        time: time?.path,
        user: this.#user()?.path,
        [this.#target.candidateType]: item.path,
        position: this.#column('position', isPosition)?.path,
        quantity: this.#column('quantity', isNumeric)?.path,
        type: type?.path,
      }),
      event,
      ...(revenue === undefined ? {} : { values: { revenue: revenue.path } }),
    };
  }

  #items(item: ColumnProfile): EntitySource {
    this.#notes.push(`A row is one ${this.#target.candidateType}; its other columns are attributes.`);
    return { files: [this.#file], into: 'entities', map: { [this.#target.candidateType]: item.path } };
  }

  #users(): readonly ImportSource[] {
    const user = this.#column('user');
    if (user !== undefined && !this.#isRepeated(user)) {
      this.#notes.push('A row is one user; its other columns are attributes.');
      return [{ files: [this.#file], into: 'entities', map: { user: user.path } }];
    }
    this.#notes.push('No column looks like the id of an item, so the file is not read.');
    return [];
  }

  /** @returns the columns that identify a request; undefined if rows do not tell which were shown together */
  #request(
    rows: readonly JsonObject[],
    item: ColumnProfile,
    time: ColumnProfile | undefined,
    position: ColumnProfile | undefined,
    user: ColumnProfile | undefined,
  ): readonly string[] | undefined {
    const own = this.#column('request');
    const session = this.#column('session');
    const keys = [[own], [session, time], [session], [user, time], [time]].flatMap((columns) =>
      columns.every((column) => column !== undefined) ? [columns.map(({ path }) => path)] : [],
    );
    for (const key of keys) {
      const { length, repeats } = grouping(rows, key, item.path, position?.path);
      if (length < LEAST_MEAN_LENGTH || repeats > MOST_REPEATS) continue;
      for (const path of key) this.#used.add(path);
      if (own === undefined)
        this.#notes.push(
          `No column is the id of a request: rows with the same ${key.join(' and ')} count as one request.`,
        );
      return key;
    }
    if (own !== undefined) this.#notes.push(`${own.path} differs in nearly every row, so it is no request.`);
    this.#notes.push(
      'The rows do not tell which candidates were shown together. They are pooled into lists in the order of the file:',
      'such a list compares candidates that different users saw. What is known of the user goes with the candidate.',
    );
    return undefined;
  }

  #poolSize(item: ColumnProfile): number {
    return Math.max(2, Math.min(POOL, Math.ceil(item.distinct.size / 2)));
  }

  /** Columns that stay the same in a request are of the request; the others are of the candidate. */
  #placed(
    rows: readonly JsonObject[],
    request: readonly string[] | undefined,
    isPooled: boolean,
  ): { readonly send: Record<string, string>; readonly carry: Record<string, string> } {
    const left = this.#left(rows);
    if (isPooled || request === undefined)
      return { send: {}, carry: this.#named(left, this.#target.known?.carried) };
    const sent = left.filter((path) => isConstantIn(rows, request, path));
    const own = left.filter((path) => !sent.includes(path));
    return {
      send: this.#named(sent, this.#target.known?.fields),
      carry: this.#named(own, this.#target.known?.carried),
    };
  }

  #context(isPooled: boolean): Record<string, string> {
    return isPooled ? {} : this.#named(this.#left(this.#rows), this.#target.known?.fields);
  }

  /** Columns without a role that a model can read when a request is served. */
  #left(rows: readonly JsonObject[]): string[] {
    const flags = Object.values(this.#flags(this.#profiles, this.#rows));
    const left = [...this.#profiles.values()].filter(({ path }) => !this.#used.has(path));
    const later = left.filter(
      ({ path }) => NOT_KNOWN_IN_ADVANCE.test(plainName(path)) || isLater(rows, path, flags),
    );
    if (later.length > 0)
      this.#notes.push(
        `Not used, since they are not known before a list is shown: ${later.map(({ path }) => path).join(', ')}.`,
      );
    return left
      .filter((column) => !later.includes(column) && isFeature(column, column.path))
      .map(({ path }) => path);
  }

  /** Names for columns, if the pipeline has such names. */
  #named(paths: readonly string[], known: ReadonlySet<string> | undefined): Record<string, string> {
    const named: Record<string, string> = {};
    for (const path of paths) {
      const name = fieldName(path);
      const isQuery =
        bestFit([path], ROLES.query) !== undefined && (known === undefined || known.has('query'));
      const field = isQuery && named.query === undefined ? 'query' : name;
      if (field !== undefined && (known === undefined || known.has(field)) && named[field] === undefined)
        named[field] = path;
    }
    return named;
  }

  #flags(profiles: Profiles, rows: readonly JsonObject[]): Record<string, string> {
    const flags: Record<string, string> = {};
    for (const [event, names] of Object.entries(FLAGS)) {
      const paths = [...profiles.values()].filter((one) => isFlag(one, rows.length)).map(({ path }) => path);
      const path = bestFit(paths, names);
      if (path !== undefined && !Object.values(flags).includes(path)) flags[event] = path;
    }
    return flags;
  }

  /** Columns of lists of ids that something happened to. */
  #listFlags(shown: string): Record<string, string> {
    const flags: Record<string, string> = {};
    for (const [event, names] of Object.entries(FLAGS)) {
      const paths = [...this.#profiles.keys()].filter((path) => path !== shown);
      const path = bestFit(paths, names);
      if (path !== undefined) {
        flags[event] = path;
        this.#used.add(path);
      }
    }
    return flags;
  }

  #listColumn(): ColumnProfile | undefined {
    const lists = [...this.#profiles.values()].filter(
      ({ path, lists: count, filled, distinct }) =>
        count > filled / 2 || (bestFit([path], ROLES.items) !== undefined && areListTexts(distinct)),
    );
    const path = bestFit(
      lists.map((one) => one.path),
      ROLES.items,
    );
    if (path === undefined) return undefined;
    const isLog = this.#column('request') ?? this.#timeColumn() ?? this.#column('session');
    return isLog === undefined ? undefined : this.#profiles.get(path);
  }

  #typeColumn(): ColumnProfile | undefined {
    const typed = [...this.#profiles.values()].filter((column) => {
      if (bestFit([column.path], ROLES.type) === undefined || column.distinct.size > 50) return false;
      const kinds = Object.values(kindsOf(column));
      return kinds.some((kind) => kind !== null);
    });
    return typed[0];
  }

  #itemColumn(): ColumnProfile | undefined {
    const scalar = (column: ColumnProfile): boolean => column.lists === 0;
    return (
      this.#column('item', scalar) ??
      // A file of items often calls their id only id.
      [...this.#profiles.values()].find(
        (one) => scalar(one) && plainName(one.path) === 'id' && !this.#isRepeated(one),
      )
    );
  }

  #timeColumn(): ColumnProfile | undefined {
    return this.#column('time', ({ time }) => time !== undefined && time !== 'any');
  }

  #user(): ColumnProfile | undefined {
    const user = this.#column('user') ?? this.#column('session');
    if (user !== undefined) this.#used.add(user.path);
    for (const other of [this.#column('session'), this.#column('request')])
      if (other !== undefined) this.#used.add(other.path);
    return user;
  }

  #rowId(): ColumnProfile | undefined {
    return [...this.#profiles.values()].find((one) => plainName(one.path) === 'id' && !this.#isRepeated(one));
  }

  #column(role: Role, fits: (column: ColumnProfile) => boolean = () => true): ColumnProfile | undefined {
    const paths = [...this.#profiles.values()].filter(fits).map(({ path }) => path);
    const path = bestFit(paths, ROLES[role]);
    if (path === undefined) return undefined;
    if (role !== 'revenue') this.#used.add(path);
    return this.#profiles.get(path);
  }

  #isRepeated({ distinct, filled }: ColumnProfile): boolean {
    return distinct.size < filled * 0.98 && distinct.size < 5000;
  }

  #use(...columns: readonly (ColumnProfile | undefined)[]): void {
    for (const column of columns) if (column !== undefined) this.#used.add(column.path);
  }

  #firstPosition(position: ColumnProfile | undefined): { readonly positions_from?: number } {
    return position?.least === 0 ? { positions_from: 0 } : {};
  }

  /** What the name of the file says that its rows are. */
  #kindByName(): string | undefined {
    const words = plainName(this.#file.slice(this.#file.lastIndexOf('/') + 1)).split('_');
    const says = (...parts: readonly string[]): boolean =>
      words.some((word) => parts.some((part) => word.startsWith(part)));
    if (says('impression', 'shown', 'expos', 'display', 'serp', 'rank', 'view')) return 'impression';
    if (says('click')) return 'click';
    if (says('cart', 'basket')) return 'cart';
    if (says('order', 'purchase', 'buy', 'transaction', 'sale', 'conversion', 'booking')) return 'order';
    if (says('item', 'product', 'catalog', 'article', 'movie', 'content')) return 'items';
    return undefined;
  }
}

function share(rows: readonly JsonObject[], is: (row: JsonObject) => boolean): number {
  return rows.filter(is).length / rows.length;
}

/** By value of a type column: the kind of the event, or null. */
function kindsOf({ distinct }: ColumnProfile): Record<string, string | null> {
  const kinds: Record<string, string | null> = {};
  for (const value of distinct) {
    const plain = plainName(value);
    kinds[value] = Object.keys(TYPES).find((kind) => TYPES[kind]?.includes(plain)) ?? null;
  }
  if (!Object.values(kinds).includes('click'))
    for (const value of distinct) if (VIEWS.includes(plainName(value))) kinds[value] = 'click';
  return kinds;
}

/** How long the lists are that a key makes, and the share of rows that repeat an item or a position in a list. */
function grouping(
  rows: readonly JsonObject[],
  key: readonly string[],
  item: string,
  position: string | undefined,
): { readonly length: number; readonly repeats: number } {
  const groups = new Map<string, { readonly items: Set<string>; readonly positions: Set<string> }>();
  let counted = 0;
  let repeats = 0;
  for (const row of rows) {
    const parts = key.map((path) => valueAt(row, path));
    if (parts.some(isMissing)) continue;
    const id = JSON.stringify(parts);
    let group = groups.get(id);
    if (group === undefined) groups.set(id, (group = { items: new Set(), positions: new Set() }));
    const itemId = JSON.stringify(valueAt(row, item));
    const place = position === undefined ? '' : JSON.stringify(valueAt(row, position));
    counted += 1;
    if (group.items.has(itemId) || (position !== undefined && group.positions.has(place))) repeats += 1;
    group.items.add(itemId);
    group.positions.add(place);
  }
  return { length: counted / Math.max(1, groups.size), repeats: repeats / Math.max(1, counted) };
}

function isConstantIn(rows: readonly JsonObject[], request: readonly string[], path: string): boolean {
  const values = new Map<string, string>();
  let differing = 0;
  for (const row of rows) {
    const id = JSON.stringify(request.map((one) => valueAt(row, one)));
    const value = JSON.stringify(valueAt(row, path) ?? null);
    const before = values.get(id);
    if (before === undefined) values.set(id, value);
    else if (before !== value) differing += 1;
  }
  return differing <= rows.length / 1000;
}

/** Whether a column has values only in rows where something happened. */
function isLater(rows: readonly JsonObject[], path: string, flags: readonly string[]): boolean {
  if (flags.length === 0) return false;
  const isSet = (value: JsonValue | undefined): boolean =>
    !isMissing(value) && !['0', 'false', '0.0'].includes(String(value));
  let inActs = 0;
  for (const row of rows) {
    if (!isSet(valueAt(row, path))) continue;
    if (!flags.some((flag) => isSet(valueAt(row, flag)))) return false;
    inActs += 1;
  }
  return inActs > 0;
}

/** Texts with very many values are ids, and a model learns nothing from a column with one value. */
function isFeature(column: ColumnProfile | undefined, path: string): boolean {
  if (column === undefined || column.lists > 0 || column.distinct.size < 2) return false;
  if (/^(column_\d+|unnamed|index)$/.test(plainName(path))) return false;
  if (column.time !== undefined && column.time !== 'any' && !isNumeric(column)) return false;
  return isNumeric(column) || column.bools === column.filled || isText(path, column);
}

const MOST_CATEGORIES = 200;

function isText(path: string, { distinct }: ColumnProfile): boolean {
  return bestFit([path], ROLES.query) !== undefined || distinct.size <= MOST_CATEGORIES;
}

function isFlag({ distinct, filled, lists, time }: ColumnProfile, rows: number): boolean {
  if (lists > 0) return false;
  if ([...distinct].every((value) => /^(0|1|0\.0|1\.0|true|false|t|f|yes|no|y|n)$/i.test(value))) return true;
  if ([...distinct].every((value) => /^\d{1,3}$/.test(value)) && distinct.has('0')) return true;
  return time !== undefined && time !== 'any' && filled < rows;
}

function isPosition(column: ColumnProfile): boolean {
  return isNumeric(column) && column.wholes === column.filled && column.least >= 0 && column.most < 100_000;
}

function areListTexts(distinct: ReadonlySet<string>): boolean {
  const texts = [...distinct].slice(0, 100);
  return (
    texts.filter((text) => /^\s*\[.*\]\s*$/s.test(text) || /\S[|,; ]\S/.test(text)).length > texts.length / 2
  );
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return [];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? (list as JsonValue[]) : [];
  } catch {
    return [];
  }
}

/** The name of a field for a column, in the grammar of names; undefined if there is none. */
export function fieldName(path: string): string | undefined {
  const name = plainName(path).replace(/^(\d)/, 'c_$1');
  return /^[a-z][a-z0-9_]*$/.test(name) ? name : undefined;
}

function clean<T>(map: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, path]) => (path === undefined ? [] : [[name, path]])),
  );
}

function section<K extends string>(
  key: K,
  map: Readonly<Record<string, string>>,
): Partial<Record<K, Readonly<Record<string, string>>>> {
  return Object.keys(map).length === 0 ? {} : ({ [key]: map } as Partial<Record<K, Record<string, string>>>);
}
