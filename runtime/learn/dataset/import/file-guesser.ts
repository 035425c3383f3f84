import { isJsonObject } from '../../../ground/core/value-fit.js';
import { ROLES } from '../../../project/foreign/column-roles.js';
import { firstPosition, isFeature, isPosition, isRepeated } from '../../../project/foreign/column-shapes.js';
import { kindOfFile, kindsOf } from '../../../project/foreign/event-types.js';
import type { FileSample, GuessTarget } from './file-guess.js';
import { isConstantIn } from '../../../project/foreign/grouped-rows.js';
import type {
  EntitySource,
  FeedbackSource,
  ImportSource,
  RankingSource,
} from '../../../project/foreign/mapping.js';
import { bestFit } from '../../../project/foreign/name-fit.js';
import { isNumeric, profileOf, type ColumnProfile } from '../../../project/foreign/profile.js';
import { listOf, plainText, valueAt } from '../../../project/foreign/read-values.js';
import { requestColumns } from './request-columns.js';
import { columnsInAdvance, fieldsFor } from '../../../project/foreign/request-fields.js';
import { flagsOf, SampledColumns } from '../../../project/foreign/sampled-columns.js';

/** The length of pooled lists. */
const POOL = 24;

/** Proposes how the rows of one file are read. */
export class FileGuesser {
  readonly #file: string;
  readonly #columns: SampledColumns;
  readonly #target: GuessTarget;
  readonly #notes: string[];

  /** @param notes receives what the user should know */
  constructor({ file, rows }: FileSample, target: GuessTarget, notes: string[]) {
    this.#file = file;
    this.#columns = new SampledColumns(rows);
    this.#target = target;
    this.#notes = notes;
  }

  sources(): readonly ImportSource[] {
    const typed = this.#columns.type();
    if (typed !== undefined) {
      const sources = this.#typed(typed);
      if (sources.length > 0) return sources;
    }
    const list = this.#columns.list();
    if (list !== undefined) return [this.#nested(list)];
    const item = this.#columns.item();
    if (item === undefined) return this.#users();
    const flags = this.#columns.flags();
    const position = this.#columns.find('position', isPosition);
    const time = this.#columns.time();
    if (Object.keys(flags).length > 0 || (position !== undefined && isRepeated(item)))
      return [this.#flat(item, flags)];
    const isLog =
      time !== undefined ||
      this.#columns.find('request') !== undefined ||
      this.#columns.find('session') !== undefined;
    const kind = kindOfFile(this.#file);
    if (kind === 'impression' && isLog) return [this.#flat(item, {})];
    if (kind !== undefined && kind !== 'items' && isLog) {
      this.#notes.push(`A row is one ${kind}.`);
      return [this.#acts(item, kind)];
    }
    if (!isRepeated(item)) return [this.#items(item)];
    if (isLog && this.#columns.find('user') !== undefined) return [this.#flat(item, {})];
    this.#notes.push('It is not clear what a row of this file is, so the file is not read.');
    return [];
  }

  /** Rows that hold a list of candidates each. */
  #nested(list: ColumnProfile, where?: RankingSource['where']): RankingSource {
    const values = this.#columns.rows.map((row) => valueAt(row, list.path));
    const items = values.flatMap((value) => listOf(value) ?? []);
    const areObjects = items.some((item) => typeof item === 'object');
    const profiles = profileOf(items);
    const id = areObjects ? (bestFit(profiles.keys(), [...ROLES.item, 'id']) ?? 'id') : '.';
    const position = areObjects ? bestFit(profiles.keys(), ROLES.position) : undefined;
    const flags = areObjects ? flagsOf(profiles, items.length) : {};
    const lists = this.#columns.listFlags(list.path);
    const positions = this.#columns.flagPositions();
    const score = areObjects ? bestFit(profiles.keys(), ROLES.score) : undefined;
    const carried = areObjects
      ? [...profiles.values()].flatMap((profile) =>
          ![id, position, score, ...Object.values(flags)].includes(profile.path) && isFeature(profile)
            ? [profile.path]
            : [],
        )
      : [];
    this.#columns.use(list.path);
    const request = this.#columns.find('request') ?? this.#columns.rowId();
    const time = this.#columns.time();
    const user = this.#columns.user();
    this.#notes.push(
      `A row is a list of candidates (${list.path}); the order of the list is the order shown.`,
    );
    if (where === undefined && Object.keys({ ...flags, ...lists, ...positions }).length === 0)
      this.#notes.push('It has no column of clicks.');
    const longest = Math.max(...values.map((value) => listOf(value)?.length ?? 0));
    const first =
      position === undefined
        ? firstPosition(Object.values(positions), longest)
        : profiles.get(position)?.least;
    return {
      files: [this.#file],
      into: 'rankings',
      ...(where === undefined ? {} : { where }),
      map: clean({
        request: request?.path,
        time: time?.path,
        user: user?.path,
        items: list.path,
        [this.#target.candidateType]: id,
        position,
        score,
      }),
      ...(first === 0 ? { positions_from: 0 } : {}),
      ...section('feedback', { ...flags, ...lists }),
      ...section('feedback_at', columnPaths(positions)),
      ...section('send', fieldsFor(this.#inAdvance(), this.#target.known?.fields)),
      ...section('carry', fieldsFor(carried, this.#target.known?.carried)),
    };
  }

  /** Rows that hold one candidate that was shown each. */
  #flat(
    item: ColumnProfile,
    flags: Readonly<Record<string, string>>,
    where?: RankingSource['where'],
  ): RankingSource {
    const { rows } = this.#columns;
    const time = this.#columns.time();
    const position = this.#columns.find('position', isPosition);
    this.#columns.use(item.path);
    this.#columns.use(...Object.values(flags));
    const user = this.#columns.user();
    const { request, notes } = requestColumns(this.#columns, item, time, position, user);
    this.#notes.push(...notes);
    if (time === undefined)
      this.#notes.push('There is no column of times: a row counts as a second later than the row before it.');
    const values = this.#inAdvance();
    const { known } = this.#target;
    // A column that stays the same in each request is of the request.
    const sent = request === undefined ? [] : values.filter((path) => isConstantIn(rows, request, path));
    const carried = values.filter((path) => !sent.includes(path));
    return {
      files: [this.#file],
      into: 'rankings',
      ...(where === undefined ? {} : { where }),
      map: clean({
        request: request?.length === 1 ? request[0] : request,
        time: time?.path,
        user: request === undefined ? undefined : user?.path,
        [this.#target.candidateType]: item.path,
        position: position?.path,
      }),
      ...(position?.least === 0 ? { positions_from: 0 } : {}),
      ...section('feedback', flags),
      ...section('send', fieldsFor(sent, known?.fields)),
      ...section('carry', fieldsFor(carried, known?.carried)),
      ...(request === undefined ? { pool: poolSize(item) } : {}),
    };
  }

  /** Rows whose type says what they are: what was shown, or what a user did. */
  #typed(type: ColumnProfile): readonly ImportSource[] {
    const kinds = kindsOf(type);
    const values = Object.keys(kinds);
    const shown = values.filter((value) => kinds[value] === 'impression');
    const sources: ImportSource[] =
      shown.length === 0 ? [] : this.#ofType(type, shown).#shown({ [type.path]: shown });
    const acts = values.filter((value) => kinds[value] !== 'impression' && kinds[value] !== null);
    // An order can list several items, while a click names its item in the row.
    const listed = acts.filter((value) => this.#ofType(type, [value]).#isListed());
    const inRow = acts.filter((value) => !listed.includes(value));
    const isWhole = type.filled === this.#columns.rows.length && (listed.length === 0 || inRow.length === 0);
    for (const own of [inRow, listed].filter((group) => group.length > 0)) {
      const event = Object.fromEntries(
        (isWhole ? values : own).map((value) => [value, own.includes(value) ? (kinds[value] ?? null) : null]),
      );
      const where = isWhole ? undefined : { [type.path]: own };
      sources.push(...this.#ofType(type, own).#typedActs(event, type.path, own === listed, where));
    }
    if (acts.length > 0) this.#notes.push('A row is what its type says.');
    if (sources.length > 0 && type.filled < this.#columns.rows.length)
      this.#notes.push(`Rows without ${type.path} are not used.`);
    const unused = values.filter((value) => kinds[value] === null);
    if (sources.length > 0 && unused.length > 0)
      this.#notes.push(`Rows with ${type.path} ${unused.join(', ')} are not used.`);
    return sources;
  }

  /** A guesser of the rows with one of the values in their type. */
  #ofType({ path }: ColumnProfile, values: readonly string[]): FileGuesser {
    const rows = this.#columns.rows.filter((row) => values.includes(plainText(valueAt(row, path))));
    const guesser = new FileGuesser({ file: this.#file, rows }, this.#target, this.#notes);
    guesser.#columns.use(path);
    return guesser;
  }

  #shown(where: RankingSource['where']): RankingSource[] {
    const list = this.#columns.list();
    if (list !== undefined) return [this.#nested(list, where)];
    const item = this.#columns.item();
    return item === undefined ? [] : [this.#flat(item, {}, where)];
  }

  #isListed(): boolean {
    const item = this.#columns.item();
    return (
      (item === undefined || item.filled < this.#columns.rows.length / 2) &&
      this.#columns.list() !== undefined
    );
  }

  #typedActs(
    event: FeedbackSource['event'],
    type: string,
    isListed: boolean,
    where: FeedbackSource['where'],
  ): readonly FeedbackSource[] {
    const found = isListed ? this.#columns.list() : this.#columns.item();
    if (found === undefined) return [];
    const source = this.#acts(found, event, isListed);
    return [{ ...source, ...(where === undefined ? {} : { where }), map: { ...source.map, type } }];
  }

  /** @param found the column of the item, or of the list of items */
  #acts(found: ColumnProfile, event: FeedbackSource['event'], isListed = false): FeedbackSource {
    const columns = isListed ? this.#itemsOf(found) : this.#columns;
    const revenue = isListed ? undefined : columns.find('revenue', isNumeric);
    const position = columns.find('position', isPosition);
    return {
      files: [this.#file],
      into: 'feedback',
      map: clean({
        request: this.#columns.find('request')?.path,
        time: this.#columns.time()?.path,
        user: this.#columns.user()?.path,
        items: isListed ? found.path : undefined,
        [this.#target.candidateType]: isListed ? (columns.item()?.path ?? '.') : found.path,
        position: position?.path,
        quantity: columns.find('quantity', isNumeric)?.path,
      }),
      ...(position?.least === 0 ? { positions_from: 0 } : {}),
      event,
      ...(revenue === undefined ? {} : { values: { revenue: revenue.path } }),
    };
  }

  /** The columns of the objects in a list. */
  #itemsOf({ path }: ColumnProfile): SampledColumns {
    const items = this.#columns.rows.flatMap((row) => listOf(valueAt(row, path)) ?? []);
    return new SampledColumns(items.filter(isJsonObject));
  }

  #items(item: ColumnProfile): EntitySource {
    this.#notes.push(`A row is one ${this.#target.candidateType}; its other columns are attributes.`);
    return { files: [this.#file], into: 'entities', map: { [this.#target.candidateType]: item.path } };
  }

  #users(): readonly ImportSource[] {
    const user = this.#columns.find('user');
    if (user !== undefined && !isRepeated(user)) {
      this.#notes.push('A row is one user; its other columns are attributes.');
      return [{ files: [this.#file], into: 'entities', map: { user: user.path } }];
    }
    this.#notes.push(
      'No column looks like the id of an item, so the file is not read.',
      `Its columns are ${this.#columns.names()}.`,
    );
    return [];
  }

  /** Columns whose values are known before a list is shown. */
  #inAdvance(): readonly string[] {
    const { known, later } = columnsInAdvance(this.#columns);
    if (later.length > 0)
      this.#notes.push(`Not used, since they are not known before a list is shown: ${later.join(', ')}.`);
    return known;
  }
}

function columnPaths(columns: Readonly<Record<string, ColumnProfile>>): Record<string, string> {
  return Object.fromEntries(Object.entries(columns).map(([event, { path }]) => [event, path]));
}

function poolSize({ distinct }: ColumnProfile): number {
  return Math.max(2, Math.min(POOL, Math.ceil(distinct.size / 2)));
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
