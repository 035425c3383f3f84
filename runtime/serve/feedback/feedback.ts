import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import { BatchRead } from '../../request/pipeline/hydrate/batch-read.js';
import { Deadline } from '../../ground/core/deadline.js';
import { eventIdentity } from '../../ground/core/event-identity.js';
import { soon } from '../../ground/core/pieces.js';
import type { EventKind } from '../../project/config/model/events.js';
import type { EventCodes } from '../../state/store/event-codes.js';
import { eventCodesKey, historyKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import { tracedStore } from '../../state/store/around.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import type { StoreParts } from '../../state/index/store-parts.js';
import { checkFeedback, type CheckedFeedback, type FeedbackEvent } from './check-feedback.js';
import type { EventCounts } from './count-events.js';
import { FacetReader, type Subject, type SubjectValues } from './facet-reader.js';
import { groupBy } from '../../ground/core/group-by.js';
import { PLAIN_IDS, type IdHasher } from '../../ground/core/id-hasher.js';
import type { Usage } from '../../ground/core/usage.js';
import { NO_LEDGER, type Ledger } from '../../state/ledger/ledger.js';
import { FeedbackRecords } from './feedback-records.js';
import { recordedAttributes } from './recorded-attributes.js';
import { HistoryWriter } from './history-writer.js';
import type { EventOutcome, Merged } from './merge-events.js';
import type { NewEvent } from './history-capacity.js';
import type { HistoryNeeds } from './history-needs.js';
import type { TrackedFacet } from '../../request/compile/tracked-facet.js';

export interface FeedbackParts extends StoreParts {
  /** The kinds of feedback of the project, by name. */
  readonly kinds: ReadonlyMap<string, EventKind>;
  /** The codes of these kinds in the store. */
  readonly codes: EventCodes;
  /** By entity type: what its histories must keep. */
  readonly needs: ReadonlyMap<string, HistoryNeeds>;
  /** Records the events; by default nothing is recorded. */
  readonly ledger?: Ledger;
  /** Replaces ids in records; by default it replaces none. */
  readonly hasher?: IdHasher;
  /** Whether an answer waits until the sinks have the events. By default it does not. */
  readonly acknowledge?: 'received' | 'stored';
  /** The oldest accepted event time, epoch milliseconds. */
  readonly oldestEvent: number;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** Counts the events in counters; by default there are none. */
  readonly counts?: EventCounts;
}

/** How many events of the body had each outcome; the first four counts add up to all events. */
export interface FeedbackAnswer {
  /** Null if the body has none. */
  readonly request_id: string | null;
  readonly stored: number;
  /** Already stored: see `identityOf`. */
  readonly duplicates: number;
  /** Older than the window of every step, or than the newest events that are kept. */
  readonly too_old: number;
  /** No step counts these events. */
  readonly unused: number;
  /** The part of all these that are too old for counters. Histories and the ledger have them. */
  readonly uncounted: number;
}

/** For the metrics: events by kind and outcome. `evicted` counts events that were stored earlier, `uncounted` some again. */
export type FeedbackCounts = readonly {
  /** The name of the kind; `undeclared` if the project does not declare it any more. */
  readonly type: string;
  readonly outcome: Outcome | 'uncounted' | 'evicted';
  readonly count: number;
}[];

/** Time limit for the reads of one body, in milliseconds. */
const READ_TIME = 5000;
/** How long an answer may wait for sinks, in milliseconds. */
const STORE_TIME = 5000;

/** Stores what users did with ranked entities, so that `interaction` steps can count it. */
export class Feedback {
  readonly #parts: FeedbackParts;
  readonly #clock: () => number;
  /** By entity type: one reader for all facets that any history keeps of that type. */
  readonly #readers = new Map<string, FacetReader>();
  readonly #writer = new HistoryWriter();
  readonly #records: FeedbackRecords;

  constructor(parts: FeedbackParts) {
    const { ledger = NO_LEDGER, hasher = PLAIN_IDS, counts } = parts;
    const attributes = counts && recordedAttributes(counts.counters, parts.types, hasher);
    this.#records = new FeedbackRecords(ledger, hasher, attributes);
    this.#parts = parts;
    this.#clock = parts.clock ?? Date.now;
    const { types, needs, prefix } = parts;
    for (const subject of types.keys()) {
      const facets = new Map<string, TrackedFacet>();
      for (const one of needs.values())
        for (const code of one.windows.keys())
          for (const [name, facet] of one.facetsOf(code, subject) ?? [])
            if (facet.segments.length > 0) facets.set(name, facet);
      if (facets.size > 0)
        this.#readers.set(subject, new FacetReader(subject, facets.values(), types, prefix));
    }
  }

  /** Records that are not written yet. */
  get recording(): Usage {
    return this.#records.usage;
  }

  /**
   * Body: see `checkFeedback`. Nothing is stored if the body is invalid. A body that is sent again is not counted
   * twice.
   * @throws MillraceError invalid_body, store_unavailable, record_unreadable, deadline_exceeded, feedback_not_stored
   */
  async record(
    body: unknown,
    span?: TraceSpan,
  ): Promise<{ readonly answer: FeedbackAnswer; readonly counts: FeedbackCounts }> {
    const now = this.#clock();
    const { types: entities, kinds, oldestEvent } = this.#parts;
    const feedback = await soon(checkFeedback(body, { entities, kinds }, now, oldestEvent));
    const store = tracedStore(this.#parts.store, span);
    // First, because no history refuses an event that is sent again.
    const counted = await this.#count(feedback, now, store);
    const merged = await this.#store(feedback, now, store);
    const outcomes: Outcome[] = [];
    const total: Record<Outcome, number> = { stored: 0, duplicate: 0, too_old: 0, unused: 0 };
    for (let i = 0; i < feedback.events.length; i++) {
      const outcome = best(counted[i], merged, i);
      outcomes.push(outcome);
      total[outcome]++;
    }
    await this.#recorded(feedback, outcomes, now);
    return {
      answer: {
        request_id: feedback.requestId ?? null,
        stored: total.stored,
        duplicates: total.duplicate,
        too_old: total.too_old,
        unused: total.unused,
        uncounted: counted.filter((one) => one === 'too_old').length,
      },
      counts: countsOf(feedback.events, outcomes, counted, merged, this.#parts.codes),
    };
  }

  /** Adds the events to the ledger, and waits for its sinks where the project says so. */
  async #recorded(feedback: CheckedFeedback, outcomes: readonly Outcome[], now: number): Promise<void> {
    const { ledger = NO_LEDGER, acknowledge } = this.#parts;
    const stored = acknowledge === 'stored' ? ledger.watch?.('feedback') : undefined;
    const adding = this.#records.add(feedback, outcomes, now);
    if (stored === undefined) return;
    const stop = new AbortController();
    const late = pause(STORE_TIME, undefined, { signal: stop.signal }).catch(() => undefined);
    const outcome = await Promise.race([adding.then(stored), late]);
    stop.abort();
    if (outcome === true) return;
    throw new MillraceError(
      'feedback_not_stored',
      outcome === false
        ? 'A sink lost records, which may be those of this feedback'
        : `A sink did not take the feedback within ${STORE_TIME / 1000} s; it may take it later`,
    );
  }

  /** By position in the events. */
  async #count(
    feedback: CheckedFeedback,
    now: number,
    store: Store,
  ): Promise<readonly (EventOutcome | undefined)[]> {
    const { counts, codes } = this.#parts;
    if (counts === undefined) return [];
    const owners = feedback.owners.map(({ type, id }) => [type, id]);
    const idOf = (event: FeedbackEvent): readonly [number, number] =>
      identityOf(feedback.requestId, event, codes.codeOf(event.kind.name), owners);
    try {
      return await counts.count(feedback, idOf, now, store);
    } catch (error) {
      throw unconfirmed('The feedback', error, ', because no event is counted twice');
    }
  }

  /** Returns one entry for each entity of the body that has counted events. */
  async #store(feedback: CheckedFeedback, now: number, store: Store): Promise<OwnerOutcome[]> {
    const { layouts, prefix, needs, codes } = this.#parts;
    if (needs.size === 0) return [];
    const owners = feedback.owners.flatMap(({ type, id }) => {
      const ofOwner = needs.get(type);
      const used = feedback.events.filter(
        ({ kind, subject }) => ofOwner?.facetsOf(codes.codeOf(kind.name), subject.type) !== undefined,
      );
      return ofOwner === undefined || used.length === 0
        ? []
        : [{ key: historyKey(prefix, type, id), needs: ofOwner, used }];
    });
    if (owners.length === 0) return [];
    const deadline = new Deadline(READ_TIME);
    try {
      const batch = new BatchRead(store, deadline);
      const numbers = owners.map(({ key }) => batch.ask(key));
      const used = new Set(owners.flatMap((owner) => owner.used));
      const isCoded = [...used].some(({ kind }) => codes.needsRecord(codes.codeOf(kind.name)));
      const codesAt = isCoded ? batch.ask(eventCodesKey(prefix)) : undefined;
      const values = await this.#valuesOf([...used], { batch, layouts, resident: undefined }, now);
      await batch.roundTrip();
      if (codesAt !== undefined) await codes.confirm(batch.records.record(codesAt), prefix, store);
      const merged = await Promise.all(
        owners.map(async ({ key, needs, used: its }, i) => {
          const events = its.map((event) => newEvent(feedback.requestId, event, values, needs, codes));
          return this.#writer.add({ key, events, needs, now }, batch.records.record(numbers[i] ?? -1), store);
        }),
      );
      return merged.map(({ outcomes, evicted }, i) => {
        const byEvent = new Map(owners[i]?.used.map((event, e) => [event, outcomes[e]]));
        return { outcomes: feedback.events.map((event) => byEvent.get(event)), evicted };
      });
    } catch (error) {
      throw unconfirmed('The feedback', error, ', because no event is counted twice');
    } finally {
      deadline.end();
    }
  }

  /** Reads the facet values of the entities that the events are about; each entity is read once. */
  async #valuesOf(
    events: readonly FeedbackEvent[],
    services: Parameters<FacetReader['read']>[1],
    now: number,
  ): Promise<Map<FeedbackEvent, ValuesAt>> {
    const found = new Map<FeedbackEvent, ValuesAt>();
    for (const [type, its] of groupBy(events, ({ subject }) => subject.type)) {
      const subjects: Subject[] = [];
      const rows = new Map<string, number>();
      const rowOf = its.map(({ subject }) => {
        // Events may carry different attributes of an entity, so only events that carry just the id share a row.
        const isPlain = Object.keys(subject.carried).length === 1;
        const row = (isPlain ? rows.get(subject.id) : undefined) ?? subjects.push(subject) - 1;
        if (isPlain) rows.set(subject.id, row);
        return row;
      });
      const values = await this.#readers.get(type)?.read(subjects, services, now);
      if (values === undefined) continue;
      its.forEach((event, i) => found.set(event, { values, row: rowOf[i] ?? 0 }));
    }
    return found;
  }
}

interface ValuesAt {
  readonly values: SubjectValues;
  readonly row: number;
}

/** By position in the body's events; undefined for events that are not counted for this entity. */
interface OwnerOutcome {
  readonly outcomes: readonly (EventOutcome | undefined)[];
  readonly evicted: Merged['evicted'];
}

function newEvent(
  requestId: string | undefined,
  event: FeedbackEvent,
  found: ReadonlyMap<FeedbackEvent, ValuesAt>,
  needs: HistoryNeeds,
  codes: EventCodes,
): NewEvent {
  const { kind, subject, time, quantity } = event;
  const code = codes.codeOf(kind.name);
  const { values, row } = found.get(event) ?? { values: new Map<never, never>(), row: 0 };
  const facets = [...(needs.facetsOf(code, subject.type)?.keys() ?? [])];
  return {
    type: code,
    time,
    quantity,
    identity: identityOf(requestId, event, code),
    values: new Map(
      facets.map((name) => [
        name,
        name.startsWith(':') ? carried(name.slice(1), event) : (values.get(name)?.[row] ?? []),
      ]),
    ),
  };
}

/** A value of the event itself, as texts. */
function carried(name: string, { position, values }: FeedbackEvent): readonly string[] {
  const value = name === 'position' ? position : values.get(name);
  if (value === undefined) return [];
  return [typeof value === 'string' ? value : JSON.stringify(value)];
}

/** The first 8 bytes of the SHA-256 of what identifies an event. @param owners see `eventIdentity` */
function identityOf(
  request: string | undefined,
  { id, subject, time }: FeedbackEvent,
  code: number,
  owners?: readonly (readonly string[])[],
): readonly [number, number] {
  const identity = eventIdentity({ id, request, time }, [code, subject.type, subject.id], owners);
  // As a text, since a Buffer takes three times as long.
  const digest = hash('sha256', identity, 'binary');
  return [wordAt(digest, 0), wordAt(digest, 4)];
}

/** The unsigned number in four bytes, the lowest first. */
function wordAt(bytes: string, at: number): number {
  const byte = (offset: number): number => bytes.charCodeAt(at + offset);
  return (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0;
}

/** The best first. */
const OUTCOMES = ['stored', 'duplicate', 'too_old', 'unused'] as const;
type Outcome = (typeof OUTCOMES)[number];

/**
 * The outcome of an event that went to counters and several histories: it is stored if it is new in any of them.
 * @param at its position in the events
 */
function best(counted: Outcome | undefined, merged: readonly OwnerOutcome[], at: number): Outcome {
  let found = OUTCOMES.indexOf(counted ?? 'unused');
  for (const { outcomes } of merged) found = Math.min(found, OUTCOMES.indexOf(outcomes[at] ?? 'unused'));
  return OUTCOMES[found] ?? 'unused';
}

function countsOf(
  events: readonly FeedbackEvent[],
  outcomes: readonly Outcome[],
  counted: readonly (Outcome | undefined)[],
  merged: readonly OwnerOutcome[],
  codes: EventCodes,
): FeedbackCounts {
  const counts = new Map<string, Mutable<FeedbackCounts[number]>>();
  const add = (type: string, outcome: FeedbackCounts[number]['outcome'], count: number): void => {
    const key = `${type} ${outcome}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { type, outcome, count });
    else known.count += count;
  };
  for (const [i, { kind }] of events.entries()) {
    add(kind.name, outcomes[i] ?? 'unused', 1);
    if (counted[i] === 'too_old') add(kind.name, 'uncounted', 1);
  }
  for (const { evicted } of merged)
    for (const [code, count] of evicted) add(codes.nameOf(code) ?? 'undeclared', 'evicted', count);
  return [...counts.values()];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
