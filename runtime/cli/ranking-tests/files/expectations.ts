import type { StatusName } from '../../../ground/api/status.js';
import type { JsonValue } from '../../../ground/api/types.js';
import type { Located, Span } from '../../../project/config/yaml/source.js';
import { entriesIn, itemsIn, member, numberIn, plain, textIn, type Placed } from './placed.js';

/** `expect:` of a case, read. Its names are not checked yet. */
export interface Expectations {
  readonly order: LocatedList | undefined;
  readonly first: LocatedList | undefined;
  /** By candidate id; NaN: no score. */
  readonly scores: readonly ById<number>[];
  readonly tolerance: number;
  readonly positions: readonly ById<number>[];
  readonly removed: { readonly at: Span; readonly ids: readonly ById<string | undefined>[] } | undefined;
  readonly moved: readonly ById<readonly Located<string>[]>[];
  readonly statuses: readonly OfValue<StatusName>[];
  readonly values: readonly OfValue<JsonValue>[];
  readonly degraded: { readonly at: Span; readonly reasons: readonly Located<string>[] } | undefined;
  readonly error: ExpectedError | undefined;
  readonly score: Located<number> | undefined;
  readonly answer: readonly OfValue<JsonValue>[];
  /** Where the snapshot is asked for. */
  readonly snapshot: Span | undefined;
}

export interface LocatedList {
  readonly at: Span;
  readonly keyAt: Span;
  readonly items: readonly Located<string>[];
}

export interface ById<T> {
  readonly id: Located<string>;
  readonly value: T;
  readonly at: Span;
}

/** What is expected of a value of the request, or of the value of one candidate. */
export interface OfValue<T> {
  readonly name: Located<string>;
  /** Undefined: the value of the request. */
  readonly id: Located<string> | undefined;
  readonly expected: T;
  readonly at: Span;
}

export interface ExpectedError {
  readonly code: Located<string>;
  readonly pointer: Located<string> | undefined;
  readonly detail: Located<string> | undefined;
}

const TOLERANCE = 1e-6;

export function readExpectations(expect: Placed | undefined): Expectations {
  const part = (key: string): Placed | undefined => member(expect, key);
  const degraded = part('degraded');
  const removed = part('removed');
  const score = part('score');
  return {
    order: listOf(expect, 'order'),
    first: listOf(expect, 'first'),
    scores: byId(part('scores'), scoreOf),
    tolerance: numberIn(part('tolerance')) ?? TOLERANCE,
    positions: byId(part('positions'), (value) => numberIn(value) ?? 0),
    removed: removed && {
      at: removed.at,
      ids:
        removed.kind === 'list'
          ? removed.items.map((item) => ({ id: located(item), value: undefined, at: item.at }))
          : byId(removed, (value) => textIn(value)),
    },
    moved: byId(part('moved'), (value) =>
      value.kind === 'list' ? value.items.map(located) : [located(value)],
    ),
    statuses: ofValues(part('statuses'), (value) => textIn(value) as StatusName),
    values: ofValues(part('values'), plain),
    degraded: degraded && { at: degraded.at, reasons: itemsIn(degraded).map(located) },
    error: errorOf(part('error')),
    score: score && { value: scoreOf(score), at: score.at },
    answer: entriesIn(part('answer')).map(([name, { keyAt, value }]) => ({
      name: { value: name, at: keyAt },
      id: undefined,
      expected: plain(value),
      at: value.at,
    })),
    snapshot: part('snapshot')?.at,
  };
}

function scoreOf(value: Placed): number {
  return numberIn(value) ?? NaN;
}

function located(value: Placed): Located<string> {
  return { value: textIn(value) ?? '', at: value.at };
}

function listOf(expect: Placed | undefined, key: string): LocatedList | undefined {
  const entry = expect?.kind === 'map' ? expect.entries.get(key) : undefined;
  if (entry === undefined) return undefined;
  return { at: entry.value.at, keyAt: entry.keyAt, items: itemsIn(entry.value).map(located) };
}

function byId<T>(value: Placed | undefined, read: (value: Placed) => T): ById<T>[] {
  return entriesIn(value).map(([id, entry]) => ({
    id: { value: id, at: entry.keyAt },
    value: read(entry.value),
    at: entry.value.at,
  }));
}

function ofValues<T>(value: Placed | undefined, read: (value: Placed) => T): OfValue<T>[] {
  return entriesIn(value).flatMap(([name, entry]): OfValue<T>[] => {
    const of = { value: name, at: entry.keyAt };
    if (entry.value.kind !== 'map')
      return [{ name: of, id: undefined, expected: read(entry.value), at: entry.value.at }];
    return byId(entry.value, read).map(({ id, value: expected, at }) => ({ name: of, id, expected, at }));
  });
}

function errorOf(error: Placed | undefined): ExpectedError | undefined {
  if (error === undefined) return undefined;
  const code = error.kind === 'map' ? member(error, 'code') : error;
  const pointer = member(error, 'pointer');
  const detail = member(error, 'detail');
  return {
    code: code === undefined ? { value: '', at: error.at } : located(code),
    pointer: pointer && located(pointer),
    detail: detail && located(detail),
  };
}
