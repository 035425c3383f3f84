import { createHash } from 'node:crypto';
import { MillraceError } from '../api/errors.js';
import { INTERACTION_TYPES, type InteractionType } from '../api/interactions.js';
import type { EntityType } from '../config/project/model.js';
import { BatchRead } from '../pipeline/hydrate/batch-read.js';
import { Deadline } from '../core/deadline.js';
import { historyKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type Store } from '../store/store.js';
import { checkFeedback, type CheckedFeedback, type FeedbackEvent } from './check-feedback.js';
import { FacetReader, type Subject, type SubjectValues } from './facet-reader.js';
import { groupBy } from '../core/group-by.js';
import { HistoryWriter } from './history-writer.js';
import type { EventOutcome } from './merge-events.js';
import type { NewEvent } from './rooms.js';
import type { Tracking } from './tracking.js';
import type { TrackedFacet } from '../compile/tracked-facet.js';

export interface FeedbackParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly types: ReadonlyMap<string, EntityType>;
  /** By entity type: what the pipelines count. */
  readonly tracking: ReadonlyMap<string, Tracking>;
  /** The oldest time of an event that is accepted, epoch milliseconds. */
  readonly oldestEvent: number;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
}

/** How many of the body's events came to what; together they are all of them. */
export interface FeedbackAnswer {
  readonly request_id: string;
  readonly stored: number;
  /** Known already, by request, kind and entity. */
  readonly duplicates: number;
  /** Older than any step counts, or than the newest that are kept. */
  readonly too_old: number;
  /** No step counts such events. */
  readonly unused: number;
}

/** For the metrics: events by kind and what became of them; `evicted` were stored before. */
export type FeedbackCounts = readonly {
  readonly type: InteractionType;
  readonly outcome: EventOutcome | 'unused' | 'evicted';
  readonly count: number;
}[];

/** Milliseconds that the reads of one body may take. */
const READ_TIME = 5000;

/** Takes what users did with what they were shown, for the `interaction` steps of the pipelines to count. */
export class Feedback {
  readonly #parts: FeedbackParts;
  readonly #clock: () => number;
  /** By subject type: one reader of all facets that any history keeps of it. */
  readonly #readers = new Map<string, FacetReader>();
  readonly #writer: HistoryWriter;

  constructor(parts: FeedbackParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? Date.now;
    this.#writer = new HistoryWriter(parts.store);
    const { types, tracking, prefix } = parts;
    for (const subject of types.keys()) {
      const facets = new Map<string, TrackedFacet>();
      for (const one of tracking.values())
        for (const type of INTERACTION_TYPES.keys())
          for (const [name, facet] of one.facetsOf(type, subject) ?? []) facets.set(name, facet);
      if (facets.size > 0)
        this.#readers.set(subject, new FacetReader(subject, facets.values(), types, prefix));
    }
  }

  /**
   * Body: see `checkFeedback`. Nothing is stored if anything is wrong with it; sending it again counts nothing twice.
   * @throws MillraceError invalid_body, store_unavailable, record_unreadable, deadline_exceeded
   */
  async record(body: unknown): Promise<{ readonly answer: FeedbackAnswer; readonly counts: FeedbackCounts }> {
    const now = this.#clock();
    const feedback = checkFeedback(body, this.#parts.types, now, this.#parts.oldestEvent);
    const merged = await this.#store(feedback, now);
    const outcomes = feedback.events.map((_, i) => best(merged.map(({ outcomes: its }) => its[i])));
    const count = (outcome: EventOutcome | 'unused'): number =>
      outcomes.filter((one) => one === outcome).length;
    return {
      answer: {
        request_id: feedback.requestId,
        stored: count('stored'),
        duplicates: count('duplicate'),
        too_old: count('too_old'),
        unused: count('unused'),
      },
      counts: countsOf(feedback.events, outcomes, merged),
    };
  }

  /** One entry for each entity of the body whose events something counts. */
  async #store(feedback: CheckedFeedback, now: number): Promise<OwnerOutcome[]> {
    const { store, layouts, prefix, tracking } = this.#parts;
    const owners = feedback.owners.flatMap(({ type, id }) => {
      const tracked = tracking.get(type);
      const used = feedback.events.filter((event) => isUsed(event, tracked));
      return tracked === undefined || used.length === 0
        ? []
        : [{ key: historyKey(prefix, type, id), tracked, used }];
    });
    if (owners.length === 0) return [];
    const deadline = new Deadline(READ_TIME, undefined);
    try {
      const batch = new BatchRead(store, deadline);
      const numbers = owners.map(({ key }) => batch.ask(key));
      const used = new Set(owners.flatMap((owner) => owner.used));
      const values = await this.#valuesOf([...used], { batch, layouts, resident: undefined }, now);
      await batch.roundTrip();
      const merged = await Promise.all(
        owners.map(async ({ key, tracked, used: its }, i) => {
          const events = its.map((event) => newEvent(feedback.requestId, event, values, tracked));
          return this.#writer.add({ key, events, tracked, now }, batch.records.record(numbers[i] ?? -1));
        }),
      );
      return merged.map(({ outcomes, evicted }, i) => {
        const byEvent = new Map(owners[i]?.used.map((event, e) => [event, outcomes[e]]));
        return { outcomes: feedback.events.map((event) => byEvent.get(event)), evicted };
      });
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const detail = `The feedback is not confirmed; sending it again counts nothing twice. ${error.message}`;
      throw new MillraceError(error.code, detail, { cause: error });
    } finally {
      deadline.end();
    }
  }

  /** The facets of what the events are of; each entity is read once. */
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
        // What events carry may differ, so that only those that carry nothing but the id are one.
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

/** By position in the body's events; undefined for those that nothing counts for this entity. */
interface OwnerOutcome {
  readonly outcomes: readonly (EventOutcome | undefined)[];
  readonly evicted: readonly number[];
}

function isUsed({ type, subject }: FeedbackEvent, tracked: Tracking | undefined): boolean {
  return tracked?.facetsOf(type, subject.type) !== undefined;
}

function newEvent(
  requestId: string,
  event: FeedbackEvent,
  found: ReadonlyMap<FeedbackEvent, ValuesAt>,
  tracked: Tracking,
): NewEvent {
  const { type, subject, time, quantity } = event;
  const { values, row } = found.get(event) ?? { values: new Map<never, never>(), row: 0 };
  const facets = [...(tracked.facetsOf(type, subject.type)?.keys() ?? [])];
  return {
    type,
    time,
    quantity,
    identity: identityOf(requestId, event),
    values: new Map(facets.map((name) => [name, values.get(name)?.[row] ?? []])),
  };
}

/** The first 8 bytes of the SHA-256 of what makes two events the same: request, kind and entity. */
function identityOf(requestId: string, { type, subject }: FeedbackEvent): readonly [number, number] {
  const text = JSON.stringify([requestId, type, subject.type, subject.id]);
  const digest = createHash('sha256').update(text).digest();
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

/** Of an event that went to several histories: it is stored if it is new to one of them. */
function best(outcomes: readonly (EventOutcome | undefined)[]): EventOutcome | 'unused' {
  return (['stored', 'duplicate', 'too_old'] as const).find((one) => outcomes.includes(one)) ?? 'unused';
}

function countsOf(
  events: readonly FeedbackEvent[],
  outcomes: readonly (EventOutcome | 'unused')[],
  merged: readonly OwnerOutcome[],
): FeedbackCounts {
  return INTERACTION_TYPES.flatMap((type, number) => {
    const its = outcomes.filter((_, i) => events[i]?.type === number);
    const evicted = merged.reduce((sum, one) => sum + (one.evicted[number] ?? 0), 0);
    return [
      ...(['stored', 'duplicate', 'too_old', 'unused'] as const).map((outcome) => ({
        type,
        outcome,
        count: its.filter((one) => one === outcome).length,
      })),
      { type, outcome: 'evicted' as const, count: evicted },
    ].filter(({ count }) => count > 0);
  });
}
