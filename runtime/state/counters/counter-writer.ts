import { setTimeout } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import {
  decodeCounters,
  encodeCounters,
  isCounterRecordOfOtherFormat,
  MARK_BYTES,
  NO_COUNTERS,
  type CounterRecord,
} from '../store/codec/counter-record.js';
import { uint32At } from '../store/codec/numbers-at.js';
import { expiryOf } from '../store/codec/versioned-record.js';
import { hasMarksBeside, markKey } from '../store/keys.js';
import { MARK_ID_BYTES, type MarkedIds, type Marks, type RecordSwap, type Store } from '../store/store.js';
import { applyTouches, secondsOf, type KeyedTouch, type Touch } from './apply-touches.js';
import { hasMark, liveMarks, packIds } from './packed-marks.js';

/** Most ids in a record. Others are remembered beside it, so that a hot record stays small. */
const MOST_MARKS = 32;

/** Most records that are written in one turn of the event loop. */
const MOST_RECORDS = 500;

/** Most attempts to write a record that other processes change at the same time. */
const MOST_TRIES = 200;

/** How much longer than the horizon ids are remembered, because the clocks of instances differ. */
const CLOCKS_DIFFER = 60_000;

export type TouchOutcome = 'stored' | 'duplicate';

/** Events that are acknowledged together. */
interface Call {
  /** By position. */
  readonly outcomes: TouchOutcome[];
  left: number;
  readonly resolve: (outcomes: TouchOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** An event of one record that waits for a write. */
interface Waiting {
  readonly touch: Touch;
  readonly call: Call;
  /** Its position in the call. */
  readonly at: number;
}

/**
 * Counts events in records by optimistic locking. Events of one record that arrive during a write are written together
 * by the next one.
 *
 * The record holds the ids of the last events, so that an event and its id are stored by one replacement. When there are
 * too many, the ids are first remembered beside the record (`Store.mark`), and then dropped from it. An id is therefore
 * always in the record, or beside it, or both. A writer reads the record first and looks beside it afterwards, at the latest
 * in the command that replaces the record, so it finds every id that others have counted before the version that it replaces.
 *
 * Ids beside the record are sets by the time of their events. A set spans all times that an event without a time can have
 * had when it was counted, so a writer asks two sets.
 */
export class CounterWriter {
  readonly #horizon: number;
  /** How many seconds of events a set of ids beside a record spans. */
  readonly #slice: number;
  readonly #clock: () => number;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  #isScheduled = false;

  /** @param horizon how long ids are remembered, in milliseconds */
  constructor(horizon: number, clock: () => number = Date.now) {
    this.#horizon = horizon;
    this.#slice = Math.ceil((horizon + 2 * CLOCKS_DIFFER) / 1000) + 1;
    this.#clock = clock;
  }

  /**
   * Counts events in the records at their keys. Resolves when all are counted.
   * @returns by position
   * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES, record_unreadable, store_busy
   */
  count(touches: readonly KeyedTouch[], store: Store): Promise<TouchOutcome[]> {
    if (touches.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const outcomes = touches.map((): TouchOutcome => 'duplicate');
      const call: Call = { outcomes, left: touches.length, resolve, reject };
      touches.forEach((touch, at) => {
        const waiting = this.#waiting.get(touch.key);
        if (waiting === undefined) this.#waiting.set(touch.key, [{ touch, call, at }]);
        else waiting.push({ touch, call, at });
      });
      this.#schedule(store);
    });
  }

  /**
   * Starts a write after the current turn of the event loop, so that it holds all events of that turn. A body can change tens
   * of thousands of records; the writes of so many start in turns.
   */
  #schedule(store: Store): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const taken = new Map<string, Waiting[]>();
      for (const [key, all] of this.#waiting) {
        if (this.#busy.has(key)) continue;
        if (taken.size === MOST_RECORDS) {
          this.#schedule(store);
          break;
        }
        taken.set(key, all.splice(0, MOST_MARKS));
        if (all.length === 0) this.#waiting.delete(key);
        this.#busy.add(key);
      }
      if (taken.size > 0) void this.#write(taken, store);
    });
  }

  async #write(taken: Map<string, Waiting[]>, store: Store): Promise<void> {
    const left = new Map(taken);
    const asked = new Set<string>();
    for (const key of taken.keys()) if (!hasMarksBeside(key)) asked.add(key);
    try {
      for (let tries = 0; left.size > 0; tries++) {
        if (tries === MOST_TRIES)
          throw new MillraceError('store_busy', 'Other processes keep changing these counters; try again');
        if (tries > 0) await setTimeout(Math.random() * Math.min(tries, 20));
        await this.#try(left, asked, store);
      }
    } catch (error) {
      for (const all of left.values()) for (const { call } of all) call.reject(error);
    } finally {
      for (const key of taken.keys()) this.#busy.delete(key);
      if (this.#waiting.size > 0) this.#schedule(store);
    }
  }

  /**
   * One attempt for all keys. Removes the keys that are done from `left`. Few events are known already, so the swap itself
   * looks beside the record, and fails if it finds an id.
   * @param asked the keys whose ids are looked up first, to learn which events are known
   */
  async #try(left: Map<string, Waiting[]>, asked: Set<string>, store: Store): Promise<void> {
    const keys = [...left.keys()];
    const now = this.#clock();
    const records = await store.read(keys);
    const works: Work[] = [];
    for (const [i, key] of keys.entries()) {
      try {
        works.push(this.#open(key, records[i] ?? null, left.get(key) ?? [], now));
      } catch (error) {
        for (const { call } of left.get(key) ?? []) call.reject(error);
        left.delete(key);
      }
    }
    const asks: Work['asks'] = [];
    const moves: Marks[] = [];
    for (const work of works) {
      if (asked.has(work.key)) asks.push(...work.asks);
      moves.push(...work.moves);
    }
    const [found] = await Promise.all([
      asks.length === 0 ? [] : store.marked(asks),
      moves.length === 0 ? undefined : store.mark(moves),
    ]);
    asks.forEach(({ known, events }, i) => {
      found[i]?.forEach((isMarked, j) => {
        if (isMarked) known[events[j] as number] = true;
      });
    });
    const swaps: (RecordSwap & { readonly work: Work })[] = [];
    for (const work of works) {
      const fresh: Touch[] = [];
      work.waiting.forEach(({ touch }, i) => {
        if (work.known[i] !== true) fresh.push(touch);
      });
      if (fresh.length === 0) {
        finish(left, work);
        continue;
      }
      const { record, expires } = applyTouches(work.counters, fresh, work.kept, work.markedUntil, now);
      const before = work.record;
      const until = Math.max(expires, before === null ? 0 : expiryOf(before));
      const after = encodeCounters(record, until);
      const unless = asked.has(work.key) ? [] : work.asks;
      swaps.push({ work, key: work.key, before, after, unless });
    }
    if (swaps.length === 0) return;
    const outcomes = await store.swap(swaps);
    swaps.forEach(({ work }, i) => {
      if (outcomes[i] === 'stored') finish(left, work);
      else if (outcomes[i] === 'marked') asked.add(work.key);
    });
  }

  #open(key: string, record: Buffer | null, waiting: readonly Waiting[], now: number): Work {
    if (record !== null && isCounterRecordOfOtherFormat(record))
      throw new MillraceError(
        'record_unreadable',
        'counters were stored by another version of Millrace in a format that this version cannot read, and were not changed; send the feedback again to an instance of that version',
      );
    // A damaged record is replaced, because nothing can read it.
    const counters = (record === null ? undefined : decodeCounters(record)) ?? NO_COUNTERS;
    const live = liveMarks(counters.marks, (now - this.#horizon - CLOCKS_DIFFER) / 1000);
    const known: boolean[] = [];
    const unknown: number[] = [];
    waiting.forEach(({ touch: { identity } }, i) => {
      const isKnown = hasMark(live, identity) || hasTouch(waiting, i, identity);
      known.push(isKnown);
      if (!isKnown) unknown.push(i);
    });
    const hasMarks = counters.markedUntil > now / 1000;
    const isFull = live.length / MARK_BYTES + unknown.length > MOST_MARKS;
    const moves = isFull ? this.#movesOf(key, live) : [];
    const until = moves.reduce((latest, { expires }) => Math.max(latest, expires), 0);
    return {
      key,
      record,
      counters,
      waiting,
      known,
      kept: isFull ? NO_COUNTERS.marks : live,
      moves,
      markedUntil: Math.max(hasMarks ? counters.markedUntil : 0, secondsOf(until)),
      asks: hasMarks && unknown.length > 0 ? this.#asksOf(key, waiting, known, unknown, now) : [],
    };
  }

  /**
   * Where the ids of events would be. The time of an event that is sent without one differs when it is sent again, and the
   * clock of the instance that counted it may be ahead.
   */
  #asksOf(
    key: string,
    waiting: Work['waiting'],
    known: boolean[],
    unknown: readonly number[],
    now: number,
  ): Work['asks'] {
    const first = this.#sliceOf(secondsOf(now - this.#horizon - CLOCKS_DIFFER));
    const last = this.#sliceOf(secondsOf(now + CLOCKS_DIFFER));
    const asks: Work['asks'] = [];
    const identityAt = (event: number): Touch['identity'] => (waiting[event] as Waiting).touch.identity;
    const ids = packIds(unknown.map(identityAt));
    for (let slice = first; slice <= last; slice++)
      asks.push({ key: markKey(key, slice), ids, known, events: unknown });
    // The time of an event that the client dates ahead is the same when it is sent again.
    for (const event of unknown) {
      const slice = this.#sliceOf(secondsOf((waiting[event] as Waiting).touch.time));
      if (slice >= first && slice <= last) continue;
      asks.push({ key: markKey(key, slice), ids: packIds([identityAt(event)]), known, events: [event] });
    }
    return asks;
  }

  /** The sets that remember the marks of a record from now on. */
  #movesOf(key: string, marks: Buffer): Marks[] {
    const slices = new Map<number, number[]>();
    for (let at = 0; at < marks.length; at += MARK_BYTES) {
      const slice = this.#sliceOf(uint32At(marks, at + MARK_ID_BYTES));
      const known = slices.get(slice);
      if (known === undefined) slices.set(slice, [at]);
      else known.push(at);
    }
    return Array.from(slices, ([slice, places]) => {
      const ids = Buffer.allocUnsafe(places.length * MARK_ID_BYTES);
      places.forEach((at, i) => marks.copy(ids, i * MARK_ID_BYTES, at, at + MARK_ID_BYTES));
      const expires = 1000 * (slice + 1) * this.#slice + this.#horizon + CLOCKS_DIFFER;
      return { key: markKey(key, slice), ids, expires };
    });
  }

  /** @param time epoch seconds, as `secondsOf` rounds them: a mark has no finer time */
  #sliceOf(time: number): number {
    return Math.floor(time / this.#slice);
  }
}

/** One record, and the events that it may not have counted yet. */
interface Work {
  readonly key: string;
  readonly record: Buffer | null;
  readonly counters: CounterRecord;
  readonly waiting: readonly Waiting[];
  /** By position in `waiting`: whether the event is counted already. */
  readonly known: boolean[];
  /** The ids that stay in the record. */
  readonly kept: Buffer;
  /** The ids that are remembered beside it from now on. */
  readonly moves: readonly Marks[];
  /** Epoch seconds. */
  readonly markedUntil: number;
  /** The sets that may know events, with the positions of the events in `waiting`. */
  readonly asks: (MarkedIds & { readonly known: boolean[]; readonly events: readonly number[] })[];
}

/** Whether one of the events before a position has an id. */
function hasTouch(waiting: readonly Waiting[], before: number, identity: Touch['identity']): boolean {
  for (let i = 0; i < before; i++) {
    const other = (waiting[i] as Waiting).touch.identity;
    if (other[0] === identity[0] && other[1] === identity[1]) return true;
  }
  return false;
}

function finish(left: Map<string, Waiting[]>, { key, waiting, known }: Work): void {
  left.delete(key);
  waiting.forEach(({ call, at }, i) => {
    if (known[i] !== true) call.outcomes[at] = 'stored';
    if (--call.left === 0) call.resolve(call.outcomes);
  });
}
