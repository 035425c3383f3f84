import { setTimeout } from 'node:timers/promises';
import { MillraceError } from '../../ground/api/errors.js';
import type { Store } from '../../state/store/store.js';
import { expiryOf } from '../../state/store/codec/versioned-record.js';
import { decodeHistory, encodeHistory, isOfOtherFormat } from '../../state/store/codec/history-record.js';
import { NO_HISTORY } from '../../state/store/codec/history.js';
import { KeyLocks } from './key-locks.js';
import { mergeEvents, type Merged } from './merge-events.js';
import type { NewEvent } from './history-capacity.js';
import type { HistoryNeeds } from './history-needs.js';

/** Most attempts to write a history that other processes change at the same time. */
const MOST_TRIES = 100;

/** Events to add to one history. */
export interface Addition {
  readonly key: string;
  readonly events: readonly NewEvent[];
  readonly needs: HistoryNeeds;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Adds events to histories by optimistic locking: read, merge, and replace the record if it is unchanged; otherwise
 * retry. No writer overwrites the events of another, and the store does not need to understand events.
 */
export class HistoryWriter {
  readonly #locks = new KeyLocks();

  /**
   * @param record the history as last read; null if there was none
   * @throws StoreWriteError; MillraceError store_unavailable; record_unreadable if the history has another format; it
   *   is not changed then
   */
  async add(addition: Addition, record: Buffer | null, store: Store): Promise<Merged> {
    const first = await this.#swap(addition, record, store);
    if (first !== undefined) return first;
    // Writes of this process to one key run one at a time, so only other processes can cause further conflicts.
    return this.#locks.hold(addition.key, async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const [again = null] = await store.read([addition.key]);
        const merged = await this.#swap(addition, again, store);
        if (merged !== undefined) return merged;
        await setTimeout(Math.random() * Math.min(tries, 20));
      }
      throw new MillraceError('store_busy', 'Other processes keep changing this feedback history; try again');
    });
  }

  /**
   * Returns undefined if the record has changed since it was read. A damaged record is replaced, because nothing can
   * read it.
   */
  async #swap(
    { key, events, needs, now }: Addition,
    before: Buffer | null,
    store: Store,
  ): Promise<Merged | undefined> {
    if (before !== null && isOfOtherFormat(before)) {
      const detail =
        'the feedback history of this entity was stored by another version of Millrace in a format that this version cannot read, and was not changed; send the feedback again to an instance of that version';
      throw new MillraceError('record_unreadable', detail);
    }
    const history = before === null ? undefined : decodeHistory(before);
    const merged = mergeEvents(history ?? NO_HISTORY, events, needs, now);
    if (!merged.outcomes.includes('stored')) return merged;
    const after = encodeHistory(merged.history, expiryAfter(before, now, needs));
    const [outcome] = await store.swap([{ key, before, after }]);
    return outcome === 'stored' ? merged : undefined;
  }
}

/** Never shortens the expiry of a record: another version of the project may count longer windows. */
function expiryAfter(before: Buffer | null, now: number, { longest, retention }: HistoryNeeds): number {
  const mine = now + longest;
  const other = before === null ? 0 : expiryOf(before);
  return other > mine && other <= now + retention ? other : mine;
}
