import { setTimeout } from 'node:timers/promises';
import { MillraceError } from '../api/errors.js';
import { LONGEST_WINDOW } from '../api/interactions.js';
import type { Store } from '../store/store.js';
import { expiryOf } from '../store/codec/versioned-record.js';
import { decodeHistory, encodeHistory, isOfOtherFormat } from '../store/codec/history-record.js';
import { NO_HISTORY } from '../store/codec/history.js';
import { KeyLocks } from './key-locks.js';
import { mergeEvents, type Merged } from './merge-events.js';
import type { NewEvent } from './rooms.js';
import type { Tracking } from './tracking.js';

/** How often a history is read again because another write came between. */
const MOST_TRIES = 100;

/** Events for one history. */
export interface Addition {
  readonly key: string;
  readonly events: readonly NewEvent[];
  readonly tracked: Tracking;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Adds events to histories: read, merge, and replace what was read if it is still there, else begin again. So none of many
 * writers undoes another's work, and the store needs to know nothing of events.
 */
export class HistoryWriter {
  readonly #store: Store;
  readonly #locks = new KeyLocks();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @param record the history as read before; null where there was none
   * @throws StoreWriteError; MillraceError store_unavailable; record_unreadable for a history of another format, which stays
   *   as it is
   */
  async add(addition: Addition, record: Buffer | null): Promise<Merged> {
    const first = await this.#swap(addition, record);
    if (first !== undefined) return first;
    // Those of this process take turns, so that only other processes can still come between.
    return this.#locks.hold(addition.key, async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const [again = null] = await this.#store.read([addition.key]);
        const merged = await this.#swap(addition, again);
        if (merged !== undefined) return merged;
        await setTimeout(Math.random() * Math.min(tries, 20));
      }
      throw new MillraceError('store_busy', 'Other writers change this history all the time; try again');
    });
  }

  /** Undefined if the record is not the one that was read any more. A damaged one is begun anew: nobody can read it. */
  async #swap({ key, events, tracked, now }: Addition, before: Buffer | null): Promise<Merged | undefined> {
    if (before !== null && isOfOtherFormat(before)) {
      const detail =
        'interactions of this entity are stored in a format of another version of Millrace, and were left as they are; send the feedback again to an instance of that version';
      throw new MillraceError('record_unreadable', detail);
    }
    const history = before === null ? undefined : decodeHistory(before);
    const merged = mergeEvents(history ?? NO_HISTORY, events, tracked.windows, now);
    if (!merged.outcomes.includes('stored')) return merged;
    const after = encodeHistory(merged.history, expiryAfter(before, now, tracked.longest));
    const [outcome] = await this.#store.swap([{ key, before, after }]);
    return outcome === 'stored' ? merged : undefined;
  }
}

/** Another version of the project may count longer windows, so that no write brings the expiry nearer. */
function expiryAfter(before: Buffer | null, now: number, longest: number): number {
  const mine = now + longest;
  const other = before === null ? 0 : expiryOf(before);
  return other > mine && other <= now + LONGEST_WINDOW ? other : mine;
}
