import { join } from 'node:path';
import type {
  ForeignCandidate,
  ForeignEntity,
  ForeignEvent,
  ForeignFeedback,
  ForeignImpression,
  ForeignRanking,
} from '../../../project/foreign/foreign-event.js';
import { actsOf } from '../../../project/foreign/listed-feedback.js';
import { Spool } from './spool.js';

export interface CollectOptions {
  /** A folder for what does not fit into memory. The caller removes it. */
  readonly folder: string;
  readonly partitions: number;
  /** How long after a list was shown a click on it can come, in milliseconds. */
  readonly within: number;
}

/** What was found while the events were put together. */
export interface CollectCounts {
  /** Rows that named a candidate of a request again. Its acts are kept. */
  repeatedCandidates: number;
  /** Feedback without a request that got the request of the last list of its user that held the candidate. */
  joined: number;
  /** Feedback without a request that stays without one. */
  withoutRequest: number;
}

/** The kind of feedback that is joined with the list that was shown. The others follow from it. */
const FIRST_KIND = 'click';

/**
 * Collects the events of all files, in any order, and puts them together: rows of one request become one ranking, clicks
 * that name no request get the one that they are of, parts of an entity become one entity. Its memory does not grow with the
 * number of events.
 */
export class Collector {
  readonly counts: CollectCounts = { repeatedCandidates: 0, joined: 0, withoutRequest: 0 };
  readonly #impressions: Spool;
  readonly #byUser: Spool;
  readonly #entities: Spool;
  readonly #within: number;
  readonly #unjoined = new Set<string>();
  /** By entity type: whether every event of it has a time. */
  readonly #timed = new Map<string, boolean>();

  constructor({ folder, partitions, within }: CollectOptions) {
    this.#impressions = new Spool(join(folder, 'impressions'), partitions);
    this.#byUser = new Spool(join(folder, 'users'), partitions);
    this.#entities = new Spool(join(folder, 'entities'), partitions);
    this.#within = within;
  }

  /** Adds an event. It may have to wait for the disk. */
  add(event: ForeignEvent): Promise<void> | undefined {
    switch (event.is) {
      case 'entity':
        this.#timed.set(event.type, Number.isFinite(event.time) && this.#timed.get(event.type) !== false);
        return this.#entities.add(`${event.type} ${event.id}`, JSON.stringify(event));
      case 'impression':
        return this.#impressions.add(event.request, JSON.stringify(event));
      case 'ranking':
        return this.#addRanking(event);
      case 'feedback':
        if (event.request === undefined) this.#unjoined.add(event.event);
        return this.#byUser.add(event.owners.user ?? event.request ?? '', JSON.stringify(event));
    }
  }

  /** How many entities were added, an entity that was added twice counted twice. */
  get entities(): number {
    return this.#entities.lines;
  }

  /** The entity types whose attributes the log tells with times. */
  get timedTypes(): ReadonlySet<string> {
    return new Set([...this.#timed].flatMap(([type, isTimed]) => (isTimed ? [type] : [])));
  }

  /**
   * Yields each entity once. Values of later events replace those of earlier ones, by name.
   * @param onEach gets each event of an entity
   */
  async *wholeEntities(
    onEach: (event: ForeignEntity) => Promise<void> | undefined = () => undefined,
  ): AsyncGenerator<ForeignEntity> {
    for await (const lines of this.#entities.partitions()) {
      const byId = new Map<string, ForeignEntity>();
      for (const event of parsed<ForeignEntity>(lines).sort((a, b) => (a.time || 0) - (b.time || 0))) {
        await onEach(event);
        const key = `${event.type} ${event.id}`;
        const before = byId.get(key);
        byId.set(
          key,
          before === undefined ? event : { ...event, values: { ...before.values, ...event.values } },
        );
      }
      yield* byId.values();
    }
  }

  /**
   * Yields each event of the entity types whose events all have times, in no order of time. The files can be read once: a
   * caller of this method cannot call `wholeEntities`.
   */
  async *timedEntities(): AsyncGenerator<ForeignEntity> {
    for await (const lines of this.#entities.partitions())
      for (const event of parsed<ForeignEntity>(lines)) if (this.timedTypes.has(event.type)) yield event;
  }

  /** Yields the rankings and the feedback, the acts on candidates as feedback. They are in no order of time. */
  async *records(): AsyncGenerator<ForeignRanking | ForeignFeedback> {
    for await (const lines of this.#impressions.partitions())
      for (const ranking of this.#grouped(parsed<ForeignImpression>(lines))) await this.#addRanking(ranking);
    const joins = this.#unjoined.has(FIRST_KIND) ? new Set([FIRST_KIND]) : this.#unjoined;
    for await (const lines of this.#byUser.partitions()) {
      const events = parsed<ForeignRanking | ForeignFeedback>(lines).sort((a, b) => a.time - b.time);
      for (const event of this.#joined(events, joins)) {
        yield event;
        if (event.is === 'ranking') yield* actsOf(event);
      }
    }
  }

  #addRanking(ranking: ForeignRanking): Promise<void> | undefined {
    return this.#byUser.add(ranking.owners.user ?? ranking.request, JSON.stringify(ranking));
  }

  *#grouped(impressions: readonly ForeignImpression[]): Generator<ForeignRanking> {
    const groups = new Map<string, ForeignImpression[]>();
    for (const impression of impressions) {
      const group = groups.get(impression.request);
      if (group === undefined) groups.set(impression.request, [impression]);
      else group.push(impression);
    }
    for (const [request, group] of groups) {
      const time = Math.min(...group.map((one) => one.time));
      const owners = Object.assign({}, ...group.map((one) => one.owners)) as ForeignRanking['owners'];
      const sent = Object.assign({}, ...group.map((one) => one.sent)) as ForeignRanking['sent'];
      const candidates = new Map<string, ForeignCandidate>();
      for (const { candidate } of group) {
        const before = candidates.get(candidate.id);
        if (before !== undefined) this.counts.repeatedCandidates += 1;
        candidates.set(
          candidate.id,
          before === undefined ? candidate : { ...before, acts: [...before.acts, ...candidate.acts] },
        );
      }
      const inOrder = [...candidates.values()].sort(
        (a, b) => (a.position ?? Infinity) - (b.position ?? Infinity) || 0,
      );
      yield { is: 'ranking', request, time, owners, sent, candidates: inOrder };
    }
  }

  /** Gives feedback of the kinds the request of the last list of its user that held the candidate. */
  *#joined(
    events: readonly (ForeignRanking | ForeignFeedback)[],
    kinds: ReadonlySet<string>,
  ): Generator<ForeignRanking | ForeignFeedback> {
    const shown = new Map<string, { readonly time: number; readonly request: string }>();
    for (const event of events) {
      const { user } = event.owners;
      if (event.is === 'ranking') {
        const last = { time: event.time, request: event.request };
        if (user !== undefined && kinds.size > 0)
          for (const { id } of event.candidates) shown.set(JSON.stringify([user, id]), last);
        yield event;
      } else if (event.request !== undefined) yield event;
      else {
        const last =
          user !== undefined && kinds.has(event.event)
            ? shown.get(JSON.stringify([user, event.candidate]))
            : undefined;
        const isIn = last !== undefined && event.time - last.time <= this.#within;
        this.counts[isIn ? 'joined' : 'withoutRequest'] += 1;
        yield isIn ? { ...event, request: last.request } : event;
      }
    }
  }
}

function parsed<T>(lines: readonly string[]): T[] {
  return lines.map((line) => JSON.parse(line) as T);
}
