import type { FeedbackAnswer } from '../../serve/feedback/feedback.js';
import type { EventKind } from '../../project/config/model/events.js';
import type { ForeignFeedback, ForeignRanking } from '../../project/foreign/foreign-event.js';

/** Finer differences of age are ignored. */
const HOUR = 3_600_000;

/** What a log has, and what a store did with it. */
export class LogCounts {
  /** Events of kinds that the project declares. */
  events = 0;
  stored = 0;
  duplicates = 0;
  from = Infinity;
  to = -Infinity;
  /** Events of kinds that the project does not declare, by kind. */
  readonly undeclared = new Map<string, number>();
  /** By kind: the number of events of each hour. */
  readonly #hours = new Map<string, Map<number, number>>();

  add(event: ForeignFeedback | ForeignRanking, kinds: ReadonlyMap<string, EventKind>): void {
    const [kind, count] = event.is === 'ranking' ? ['impression', event.candidates.length] : [event.event, 1];
    if (!kinds.has(kind)) {
      this.undeclared.set(kind, (this.undeclared.get(kind) ?? 0) + count);
      return;
    }
    this.events += count;
    this.from = Math.min(this.from, event.time);
    this.to = Math.max(this.to, event.time);
    const hours = this.#hours.get(kind) ?? new Map<number, number>();
    const hour = Math.floor(event.time / HOUR);
    this.#hours.set(kind, hours.set(hour, (hours.get(hour) ?? 0) + count));
  }

  answered<T extends Pick<FeedbackAnswer, 'stored' | 'duplicates'>>(answer: T): T {
    this.stored += answer.stored;
    this.duplicates += answer.duplicates;
    return answer;
  }

  /** The kinds, and how many events each has. */
  kinds(): ReadonlyMap<string, number> {
    return new Map([...this.#hours.keys()].map((kind) => [kind, this.since(kind, -Infinity)]));
  }

  /** The events of a kind from the hour of a time on. */
  since(kind: string, time: number): number {
    let sum = 0;
    for (const [hour, count] of this.#hours.get(kind) ?? [])
      if (hour >= Math.floor(time / HOUR)) sum += count;
    return sum;
  }
}
