import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { KeyedTouch, Touch } from '../../state/counters/apply-touches.js';
import { additionsOf, CountedKinds, type CountedEvent } from '../../state/counters/counted-kinds.js';
import { CounterWriter, type TouchOutcome } from '../../state/counters/counter-writer.js';
import { FIRST_GENERATIONS, type Generations } from '../../state/counters/generations.js';
import { keysOfEvent, type FollowedValues } from '../../state/counters/keys-of-event.js';
import { Deadline } from '../../ground/core/deadline.js';
import { groupBy } from '../../ground/core/group-by.js';
import { eachPiece, soon } from '../../ground/core/pieces.js';
import type { StoreParts } from '../../state/index/store-parts.js';
import { BatchRead } from '../../request/pipeline/hydrate/batch-read.js';
import { counterKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import type { CheckedFeedback, FeedbackEvent } from './check-feedback.js';
import { FacetReader, type Subject } from './facet-reader.js';

/** Time limit for reading the references of a body's entities, in milliseconds. */
const READ_TIME = 5000;

/** How long the id of an event is remembered, if no setting says otherwise. */
export const DEFAULT_HORIZON = 10 * 60_000;

/** So many keys of an event are compared one by one; more are looked up. */
const FEW_KEYS = 8;

export interface CountParts extends Pick<StoreParts, 'layouts' | 'prefix' | 'types'> {
  readonly counters: ReadonlyMap<string, CounterDefinition>;
  readonly generations?: Generations;
  /** How long the id of an event is remembered, in milliseconds. */
  readonly horizon?: number;
  readonly clock?: () => number;
}

const NO_VALUES: FollowedValues = () => [];
const NOT_FOLLOWED: ReadonlyMap<FeedbackEvent, FollowedValues> = new Map();

/** The halves of an event's id. */
type IdentityOf = (event: FeedbackEvent) => readonly [number, number];

/** What the events of a call share. */
interface EventsOf extends Pick<CheckedFeedback, 'owners'> {
  readonly identityOf: IdentityOf;
  readonly now: number;
}

/** Counts the events of feedback in the records of counters. */
export class EventCounts {
  readonly #parts: CountParts;
  readonly #kinds: CountedKinds;
  readonly #writer: CounterWriter;
  readonly #horizon: number;
  /** By type of the entity that an event is about: finds the values of the paths that counters follow from it. */
  readonly #readers: ReadonlyMap<string, FacetReader>;

  constructor(parts: CountParts) {
    this.#parts = parts;
    this.#horizon = parts.horizon ?? DEFAULT_HORIZON;
    this.#kinds = new CountedKinds(parts.counters, parts.generations ?? FIRST_GENERATIONS);
    this.#writer = new CounterWriter(this.#horizon, parts.clock);
    this.#readers = readersOf(parts.counters, parts.types, parts.prefix);
  }

  get counters(): CountParts['counters'] {
    return this.#parts.counters;
  }

  /** True if the event is older than the time for which ids are remembered: it could have been counted before. */
  #isOld({ kind, time }: FeedbackEvent, now: number): boolean {
    return time < now - this.#horizon && this.#kinds.has(kind.name);
  }

  /**
   * Counts the events. An event counts when every record that it changes has it; if it is sent again, the records that
   * have it are left as they are. Events that are older than the ids that are remembered are left out (`too_old`).
   * @returns by position in the events; undefined for events that no counter counts
   * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES, record_unreadable, store_busy
   */
  async count(
    feedback: CheckedFeedback,
    identityOf: IdentityOf,
    now: number,
    store: Store,
  ): Promise<(TouchOutcome | 'too_old' | undefined)[]> {
    const { events } = feedback;
    const of = { owners: feedback.owners, identityOf, now };
    const followed = this.#readers.size === 0 ? NOT_FOLLOWED : await this.#follow(events, now, store);
    const touches: KeyedTouch[] = [];
    // By position in the events: where the touches of the next event start.
    const ends = new Uint32Array(events.length);
    const work = eachPiece(events, (event, i) => {
      if (!this.#isOld(event, now)) this.#addTouches(touches, event, followed.get(event), of);
      ends[i] = touches.length;
    });
    const rest = soon(work); // an event can change more than a hundred records
    if (rest instanceof Promise) await rest;
    const outcomes = await this.#writer.count(touches, store);
    let start = 0;
    return events.map((event, i) => {
      const first = start;
      const end = (start = ends[i] as number);
      if (first === end) return this.#isOld(event, now) ? 'too_old' : undefined;
      for (let at = first; at < end; at++) if (outcomes[at] === 'stored') return 'stored';
      return 'duplicate';
    });
  }

  /** Adds what an event changes, once for each key. */
  #addTouches(
    touches: KeyedTouch[],
    event: FeedbackEvent,
    followed: FollowedValues = NO_VALUES,
    { owners, identityOf, now }: EventsOf,
  ): void {
    const kinds = this.#kinds.of(event.kind.name, now);
    if (kinds.length === 0) return;
    const { subject, time, quantity, position, values } = event;
    const counted: CountedEvent = { event: event.kind.name, subject, owners, quantity, position, values };
    const identity = identityOf(event);
    const first = touches.length;
    const places = new Map<string, number>();
    const add = (key: string, additions: Touch['additions']): void => {
      if (additions.length === 0) return;
      const at = placeOf(key, touches, first, places);
      const known = touches[at]?.additions;
      touches[at] = {
        key,
        identity,
        time,
        additions: known === undefined ? additions : [...known, ...additions],
      };
    };
    for (const { counter, entity, all } of kinds) {
      const keys = keysOfEvent(counter, counted, followed, this.#parts.prefix);
      if (keys.length === 0) continue;
      const additions = additionsOf(entity, counted);
      for (const key of keys) add(key, additions);
      if (all.length > 0) add(counterKey(this.#parts.prefix, [], []), additionsOf(all, counted));
    }
  }

  #follow(
    events: readonly FeedbackEvent[],
    now: number,
    store: Store,
  ): Promise<Map<FeedbackEvent, FollowedValues>> {
    const counted = events.filter((event) => this.#kinds.has(event.kind.name) && !this.#isOld(event, now));
    return followPaths(counted, this.#readers, { store, layouts: this.#parts.layouts }, now);
  }
}

/**
 * Where the touch of a key is among those from a place on, or belongs.
 * @param places of the keys, if there are many
 */
function placeOf(
  key: string,
  touches: readonly KeyedTouch[],
  first: number,
  places: Map<string, number>,
): number {
  let at = first;
  if (touches.length - first <= FEW_KEYS) {
    while (at < touches.length && touches[at]?.key !== key) at++;
    return at;
  }
  for (at += places.size; at < touches.length; at++) places.set(touches[at]?.key ?? '', at);
  return places.get(key) ?? touches.length;
}

/** Reads what the paths of counters lead to from the entities of events. */
export async function followPaths<T extends { readonly subject: Subject & { readonly type: string } }>(
  events: readonly T[],
  readers: ReadonlyMap<string, FacetReader>,
  { store, layouts }: Pick<StoreParts, 'store' | 'layouts'>,
  now: number,
): Promise<Map<T, FollowedValues>> {
  const found = new Map<T, FollowedValues>();
  for (const [type, its] of groupBy(events, ({ subject }) => subject.type)) {
    const reader = readers.get(type);
    if (reader === undefined) continue;
    const deadline = new Deadline(READ_TIME);
    try {
      const services = { batch: new BatchRead(store, deadline), layouts, resident: undefined };
      const values = await reader.read(
        its.map(({ subject }) => subject),
        services,
        now,
      );
      its.forEach((event, row) => found.set(event, (path) => values.get(path)?.[row] ?? []));
    } finally {
      deadline.end();
    }
  }
  return found;
}

export function readersOf(
  counters: CountParts['counters'],
  types: ReadonlyMap<string, EntityType>,
  prefix: string,
): Map<string, FacetReader> {
  const followed = [...counters.values()].flatMap(({ by }) => by.filter((path) => path.length > 1));
  const byRoot = groupBy(followed, ([root = '']) => root);
  return new Map(
    Array.from(byRoot, ([root, paths]) => {
      const facets = new Map(paths.map((segments) => [segments.join('.'), segments]));
      const named = Array.from(facets, ([name, segments]) => ({ name, segments }));
      return [root, new FacetReader(root, named, types, prefix)];
    }),
  );
}
