import { MOST_FACETS, type FacetValues, type History } from '../../state/store/codec/history.js';
import { HistoryCapacity, valuesOf, type NewEvent, type Source } from './history-capacity.js';
import type { HistoryNeeds } from './history-needs.js';

/** How long events are kept. */
export type HistoryWindows = Pick<HistoryNeeds, 'windows' | 'longest'>;

/** `too_old`: older than the longest window of its kind, or dropped by `HistoryCapacity`. */
export type EventOutcome = 'stored' | 'duplicate' | 'too_old';

export interface Merged {
  readonly history: History;
  /** By position in the new events. */
  readonly outcomes: readonly EventOutcome[];
  /** By kind: stored events that were dropped to make space for newer ones. */
  readonly evicted: ReadonlyMap<number, number>;
}

/**
 * Adds events to a history. The result does not depend on the order or the number of deliveries: it keeps the newest
 * events of each kind within its window, as far as `HistoryCapacity` allows. If two events have the same identity, the
 * one that was stored first stays.
 * @param now epoch milliseconds
 */
export function mergeEvents(
  history: History,
  events: readonly NewEvent[],
  windows: HistoryWindows,
  now: number,
): Merged {
  const outcomes = firstOutcomes(history, events, windows, now);
  const fresh = events.filter((_, i) => outcomes[i] === 'stored');
  const all = inOrder(history, fresh).filter((source) => {
    return typeof source !== 'number' || !isOver(history.types[source], history.times[source], windows, now);
  });

  const capacity = new HistoryCapacity(history, fresh, windows.windows.size);
  const evicted = new Map<number, number>();
  const dropped = new Set<NewEvent>();
  const kept: Source[] = [];
  for (let i = all.length - 1; i >= 0; i--) {
    const source = all[i] as Source;
    const type = typeof source === 'number' ? (history.types[source] as number) : source.type;
    if (capacity.take(source)) kept.push(source);
    else if (typeof source === 'number') evicted.set(type, (evicted.get(type) ?? 0) + 1);
    else dropped.add(source);
  }
  return {
    history: build(history, kept.reverse()),
    outcomes: outcomes.map((outcome, i) => (dropped.has(events[i] as NewEvent) ? 'too_old' : outcome)),
    evicted,
  };
}

/** The outcome of each new event, before the capacity is checked. */
function firstOutcomes(
  { count, identities }: History,
  events: readonly NewEvent[],
  windows: HistoryWindows,
  now: number,
): EventOutcome[] {
  const known = new Map<number, Set<number>>();
  const isKnown = ([low, high]: readonly [number, number]): boolean => known.get(low)?.has(high) === true;
  const add = (low: number, high: number): void => {
    const highs = known.get(low);
    if (highs === undefined) known.set(low, new Set([high]));
    else highs.add(high);
  };
  // A history may hold many events and few are new, so only identities that could match a new event are collected.
  const lows = new Set(events.map(({ identity: [low] }) => low));
  for (let e = 0; e < count; e++) {
    const low = identities[2 * e] as number;
    if (lows.has(low)) add(low, identities[2 * e + 1] as number);
  }
  return events.map(({ type, time, identity }) => {
    if (isKnown(identity)) return 'duplicate';
    if (isOver(type, time, windows, now)) return 'too_old';
    add(...identity);
    return 'stored';
  });
}

function isOver(
  type: number | undefined,
  time: number | undefined,
  { windows, longest }: HistoryWindows,
  now: number,
): boolean {
  return (time ?? 0) <= now - (windows.get(type ?? 0) ?? longest);
}

/** Merges stored and new events by time, then identity, so the order does not depend on which event arrived first. */
function inOrder(history: History, fresh: readonly NewEvent[]): Source[] {
  const { times, identities, count } = history;
  const timeOf = (source: Source): number =>
    typeof source === 'number' ? (times[source] ?? 0) : source.time;
  const half = (source: Source, which: 0 | 1): number =>
    typeof source === 'number' ? (identities[2 * source + which] ?? 0) : source.identity[which];
  const compare = (a: Source, b: Source): number =>
    timeOf(a) - timeOf(b) || half(a, 0) - half(b, 0) || half(a, 1) - half(b, 1);
  const added: Source[] = [...fresh].sort(compare);
  const all: Source[] = [];
  let next = 0;
  for (let e = 0; e < count; e++) {
    while (next < added.length && compare(added[next] as Source, e) < 0) all.push(added[next++] as Source);
    all.push(e);
  }
  return [...all, ...added.slice(next)];
}

function build(history: History, sources: readonly Source[]): History {
  const count = sources.length;
  const types = new Uint8Array(count);
  const times = new Float64Array(count);
  const quantities = new Uint16Array(count);
  const identities = new Uint32Array(2 * count);
  const names = new Set<string>();
  for (const [e, source] of sources.entries()) {
    if (typeof source === 'number') {
      types[e] = history.types[source] ?? 0;
      times[e] = history.times[source] ?? 0;
      quantities[e] = history.quantities[source] ?? 0;
      identities.set(history.identities.subarray(2 * source, 2 * source + 2), 2 * e);
    } else {
      types[e] = source.type;
      times[e] = source.time;
      quantities[e] = source.quantity;
      identities.set(source.identity, 2 * e);
      for (const [name, values] of source.values) if (values.length > 0) names.add(name);
    }
  }
  for (const name of history.facets.keys()) names.add(name);
  const texts = new Texts();
  const facets = new Map<string, FacetValues>();
  for (const name of [...names].slice(0, MOST_FACETS)) {
    const values = facetOf(name, history, sources, texts);
    if (values.values.length > 0) facets.set(name, values);
  }
  return { count, types, times, quantities, identities, facets, texts: texts.all };
}

/** Numbers texts; each text is listed once. */
class Texts {
  readonly all: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.all.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}

function facetOf(name: string, history: History, sources: readonly Source[], texts: Texts): FacetValues {
  const before = history.facets.get(name);
  const offsets = new Int32Array(sources.length + 1);
  const values: number[] = [];
  for (const [e, source] of sources.entries()) {
    if (typeof source === 'number') {
      const end = before?.offsets[source + 1] ?? 0;
      for (let i = before?.offsets[source] ?? 0; i < end; i++)
        values.push(texts.number(history.texts[before?.values[i] ?? 0] ?? ''));
    } else {
      for (const text of valuesOf(source, name)) values.push(texts.number(text));
    }
    offsets[e + 1] = values.length;
  }
  return { offsets, values: Int32Array.from(values) };
}
