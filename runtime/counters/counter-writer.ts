import { setTimeout } from 'node:timers/promises';
import { MillraceError } from '../api/errors.js';
import {
  decodeCounters,
  encodeCounters,
  isCounterRecordOfOtherFormat,
  NO_COUNTERS,
  type CountedMark,
  type CounterRecord,
} from '../store/codec/counter-record.js';
import { expiryOf } from '../store/codec/versioned-record.js';
import { markKey } from '../store/keys.js';
import { type Mark, type Store } from '../store/store.js';
import { applyTouches, type Touch } from './apply-touches.js';

/** Most ids in a record. Others are remembered beside it, so that a hot record stays small. */
const MOST_MARKS = 32;

/** Most attempts to write a record that other processes change at the same time. */
const MOST_TRIES = 200;

/** How much longer than the horizon ids are remembered, because the clocks of instances differ. */
const CLOCKS_DIFFER = 60_000;

/** Events of one record that wait for a write. */
interface Waiting {
  readonly touch: Touch;
  readonly resolve: (outcome: TouchOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export type TouchOutcome = 'stored' | 'duplicate';

/**
 * Counts events in records by optimistic locking. Events of one record that arrive during a write are written together
 * by the next one.
 *
 * The record holds the ids of the last events, so that an event and its id are stored by one replacement. When there are
 * too many, the ids are first remembered beside the record (`Store.mark`), and then dropped from it. An id is therefore
 * always in the record, or beside it, or both. A writer reads the record first and looks beside it afterwards, so it
 * finds every id that others have counted before the version that it replaces.
 */
export class CounterWriter {
  readonly #horizon: number;
  readonly #slice: number;
  readonly #clock: () => number;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  #isScheduled = false;

  /** @param horizon how long ids are remembered, in milliseconds */
  constructor(horizon: number, clock: () => number = Date.now) {
    this.#horizon = horizon;
    this.#slice = Math.max(60_000, Math.ceil(horizon / 10));
    this.#clock = clock;
  }

  /**
   * Counts an event in the record at a key.
   * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES, record_unreadable, store_busy
   */
  count(key: string, touch: Touch, store: Store): Promise<TouchOutcome> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      const one = { touch, resolve, reject };
      if (waiting === undefined) this.#waiting.set(key, [one]);
      else waiting.push(one);
      this.#schedule(store);
    });
  }

  /** Starts a write after the current turn of the event loop, so that it holds all events of that turn. */
  #schedule(store: Store): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const taken = new Map<string, Waiting[]>();
      for (const [key, all] of this.#waiting) {
        if (this.#busy.has(key)) continue;
        taken.set(key, all.splice(0, MOST_MARKS));
        if (all.length === 0) this.#waiting.delete(key);
        this.#busy.add(key);
      }
      if (taken.size > 0) void this.#write(taken, store);
    });
  }

  async #write(taken: Map<string, Waiting[]>, store: Store): Promise<void> {
    const left = new Map(taken);
    try {
      for (let tries = 0; left.size > 0; tries++) {
        if (tries === MOST_TRIES)
          throw new MillraceError('store_busy', 'Other processes keep changing these counters; try again');
        if (tries > 0) await setTimeout(Math.random() * Math.min(tries, 20));
        await this.#try(left, store);
      }
    } catch (error) {
      for (const all of left.values()) for (const { reject } of all) reject(error);
    } finally {
      for (const key of taken.keys()) this.#busy.delete(key);
      if (this.#waiting.size > 0) this.#schedule(store);
    }
  }

  /** One attempt for all keys. Removes the keys that are done from `left`. */
  async #try(left: Map<string, Waiting[]>, store: Store): Promise<void> {
    const keys = [...left.keys()];
    const now = this.#clock();
    const records = await store.read(keys);
    const works: Work[] = [];
    for (const [i, key] of keys.entries()) {
      try {
        works.push(this.#open(key, records[i] ?? null, left.get(key) ?? [], now));
      } catch (error) {
        for (const { reject } of left.get(key) ?? []) reject(error);
        left.delete(key);
      }
    }
    const asks = works.flatMap(({ asks: its }) => its);
    const moves = works.flatMap(({ moves: its }) => its);
    const [found] = await Promise.all([
      asks.length === 0 ? [] : store.marked(asks.map(({ mark }) => mark)),
      moves.length === 0 ? undefined : store.mark(moves),
    ]);
    asks.forEach(({ waiting }, i) => {
      if (found[i] === true) waiting.isKnown = true;
    });
    const swaps = works.flatMap((work) => {
      const fresh = work.events.filter(({ isKnown }) => !isKnown);
      if (fresh.length === 0) {
        finish(left, work);
        return [];
      }
      const { record, expires } = applyTouches(
        work.counters,
        fresh.map(({ waiting: { touch } }) => touch),
        work.kept,
        work.markedUntil,
        now,
      );
      const before = work.record;
      const until = Math.max(expires, before === null ? 0 : expiryOf(before));
      return [{ work, key: work.key, before, after: encodeCounters(record, until) }];
    });
    if (swaps.length === 0) return;
    const outcomes = await store.swap(swaps);
    swaps.forEach(({ work }, i) => {
      if (outcomes[i] === 'stored') finish(left, work);
    });
  }

  #open(key: string, record: Buffer | null, all: readonly Waiting[], now: number): Work {
    if (record !== null && isCounterRecordOfOtherFormat(record))
      throw new MillraceError(
        'record_unreadable',
        'counters were stored by another version of Millrace in a format that this version cannot read, and were not changed; send the feedback again to an instance of that version',
      );
    // A damaged record is replaced, because nothing can read it.
    const counters = (record === null ? undefined : decodeCounters(record)) ?? NO_COUNTERS;
    const since = (now - this.#horizon - CLOCKS_DIFFER) / 1000;
    const live = counters.marks.filter(({ time }) => time >= since);
    const known = new Set(live.map(({ low, high }) => `${low} ${high}`));
    const events = all.map((waiting) => {
      const [low, high] = waiting.touch.identity;
      const id = `${low} ${high}`;
      const isKnown = known.has(id);
      known.add(id);
      return { waiting, isKnown };
    });
    const unknown = events.filter(({ isKnown }) => !isKnown);
    const hasMarks = counters.markedUntil > now / 1000;
    const isFull = live.length + unknown.length > MOST_MARKS;
    const moves = isFull ? live.map((mark) => this.#markOf(key, mark)) : [];
    const until = moves.reduce((latest, { expires }) => Math.max(latest, expires), 0);
    return {
      key,
      record,
      counters,
      events,
      kept: isFull ? [] : live,
      moves,
      markedUntil: Math.max(hasMarks ? counters.markedUntil : 0, Math.ceil(until / 1000)),
      asks: hasMarks ? unknown.flatMap((event) => this.#asksOf(key, event, now)) : [],
    };
  }

  /**
   * Where the id of an event would be. The time of an event that is sent without one differs when it is sent again, and the
   * clock of the instance that counted it may be ahead.
   */
  #asksOf(key: string, event: Work['events'][number], now: number): Work['asks'] {
    const [low, high] = event.waiting.touch.identity;
    const last = Math.floor((Math.max(now, event.waiting.touch.time) + CLOCKS_DIFFER) / this.#slice);
    const first = Math.floor((now - this.#horizon - CLOCKS_DIFFER) / this.#slice);
    const id = hexOf(low, high);
    return Array.from({ length: last - first + 1 }, (_, i) => ({
      waiting: event,
      mark: { key: markKey(key, first + i), id, expires: 0 },
    }));
  }

  #markOf(key: string, { low, high, time }: CountedMark): Mark {
    const slice = Math.floor((1000 * time) / this.#slice);
    const expires = (slice + 1) * this.#slice + this.#horizon + CLOCKS_DIFFER;
    return { key: markKey(key, slice), id: hexOf(low, high), expires };
  }
}

/** One record, and the events that it may not have counted yet. */
interface Work {
  readonly key: string;
  readonly record: Buffer | null;
  readonly counters: CounterRecord;
  readonly events: readonly { readonly waiting: Waiting; isKnown: boolean }[];
  /** The ids that stay in the record. */
  readonly kept: readonly CountedMark[];
  /** The ids that are remembered beside it from now on. */
  readonly moves: readonly Mark[];
  /** Epoch seconds. */
  readonly markedUntil: number;
  readonly asks: readonly { readonly waiting: { isKnown: boolean }; readonly mark: Mark }[];
}

function hexOf(low: number, high: number): string {
  const id = Buffer.alloc(8);
  id.writeUInt32LE(low, 0);
  id.writeUInt32LE(high, 4);
  return id.toString('hex');
}

function finish(left: Map<string, Waiting[]>, { key, events }: Work): void {
  left.delete(key);
  for (const { waiting, isKnown } of events) waiting.resolve(isKnown ? 'duplicate' : 'stored');
}
