import type { OpenTunable } from '../../serve/app/project/open-tunable.js';
import { LogFeedback } from '../../serve/sources/log-feedback.js';
import type { ViewRow } from '../../learn/dataset/import/view-rows.js';
import { fittedEntity } from '../../project/foreign/fitted-entity.js';
import type { ForeignEntity, ForeignFeedback, ForeignRanking } from '../../project/foreign/foreign-event.js';
import { sendBatch } from '../../state/index/send-batch.js';

export type PlayedEvent = ForeignEntity | ViewRow | ForeignFeedback | ForeignRanking;

/** The clock of the services that a log is played to, epoch milliseconds. */
export interface PlayedClock {
  now: number;
}

/** Events that are at most this far apart are stored together, in milliseconds. */
const TOGETHER = 60_000;
const MOST_TOGETHER = 500;

/** At equal times, what is known comes first, then the rankings that see it, then what they lead to. */
export const PLAY_ORDER = { entity: 0, row: 0, ranking: 1, feedback: 2 } as const;

/**
 * Tells services what a log tells, in the order of its times, while their clock shows these times. So a ranking sees what
 * a service would have known when it came. What happens at the time of a ranking happens after it.
 */
export class PlayedLog {
  readonly #opened: OpenTunable;
  readonly #clock: PlayedClock;
  readonly #feedback: LogFeedback | undefined;
  #waiting: PlayedEvent[] = [];

  constructor(opened: OpenTunable, clock: PlayedClock) {
    this.#opened = opened;
    this.#clock = clock;
    const { plan, config, feedback } = opened;
    const isCounted = plan.levels.some(
      ({ histories, features }) =>
        histories.length > 0 || features.some(({ counters }) => counters !== undefined),
    );
    if (isCounted)
      this.#feedback = new LogFeedback({
        target: { feedback: async (body) => (await feedback.record(body)).answer },
        about: plan.candidateType.name,
        project: config,
        refused: () => undefined, // `feedback load` reports what a store refuses
      });
  }

  /** Adds an event. Call it in the order of the times. A ranking counts as seen by its user. */
  add(event: PlayedEvent): Promise<void> | undefined {
    if (this.#feedback === undefined && (event.is === 'feedback' || event.is === 'ranking')) return undefined;
    const [first] = this.#waiting;
    const isFull =
      first !== undefined && (event.time - first.time > TOGETHER || this.#waiting.length >= MOST_TOGETHER);
    if (!isFull) {
      this.#waiting.push(event);
      return undefined;
    }
    return this.#settle().then(() => void this.#waiting.push(event));
  }

  /** Stores what happened before a time, and sets the clock to it. */
  async until(time: number): Promise<void> {
    if (this.#waiting.some((event) => event.time < time || PLAY_ORDER[event.is] === 0))
      await this.#settle(time);
    this.#clock.now = time;
  }

  /** @param before only events before this time */
  async #settle(before = Infinity): Promise<void> {
    const end = this.#waiting.findIndex(({ time, is }) => time >= before && PLAY_ORDER[is] > 0);
    const events = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
    // The first time: what is stored later than it happened would be kept longer.
    this.#clock.now = events[0]?.time ?? this.#clock.now;
    for (let at = 0; at < events.length;) {
      const kind = kindOf(events[at] as PlayedEvent);
      let next = at + 1;
      while (next < events.length && kindOf(events[next] as PlayedEvent) === kind) next++;
      await this.#store(events.slice(at, next));
      at = next;
    }
  }

  /** @param events of one kind */
  async #store(events: readonly PlayedEvent[]): Promise<void> {
    const { entities, features, config } = this.#opened;
    const [first] = events;
    if (first?.is === 'entity') {
      const type = config.entities.get(first.type);
      if (type === undefined) return;
      const rows = (events as readonly ForeignEntity[]).map((event, line) => ({
        line,
        value: fittedEntity(event, type),
      }));
      const send = async (left: readonly (typeof rows)[number][]): Promise<{ older: number }> => {
        const body = { entity_type: type.name, create: true, entities: left.map(({ value }) => value) };
        await entities.update(body);
        return { older: 0 };
      };
      await sendBatch(rows, send, () => undefined); // `storeEntities` reports what the index refuses
    } else if (first?.is === 'row')
      await features.push({ view: first.view, rows: (events as readonly ViewRow[]).map(({ row }) => row) });
    else await this.#feedback?.store(events as readonly (ForeignFeedback | ForeignRanking)[]);
  }
}

/** Events of one kind are stored together. */
function kindOf(event: PlayedEvent): string {
  if (event.is === 'entity') return `entity ${event.type}`;
  return event.is === 'row' ? `row ${event.view}` : 'feedback';
}
