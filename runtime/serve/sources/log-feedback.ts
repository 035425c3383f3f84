import type { JsonObject } from '../../ground/api/types.js';
import { groupBy } from '../../ground/core/group-by.js';
import type { ForeignFeedback, ForeignRanking } from '../../project/foreign/foreign-event.js';
import type { FeedbackBody } from './feedback-parts.js';
import { feedbackBodies } from './feedback-parts.js';
import type { IntakeProject, SourceTarget } from './intake.js';
import { isFinal } from './refusals.js';

/** Users whose feedback is stored at the same time. */
const LANES = 8;

export interface LogFeedbackParts {
  readonly target: Pick<SourceTarget, 'feedback'>;
  /** The entity type that feedback is about. */
  readonly about: string;
  readonly project: IntakeProject;
  /** What an event carries of the entity that it is about. */
  readonly carried?: (id: string) => JsonObject;
  /** Gets why an event cannot be stored. */
  readonly refused: (detail: string, event: JsonObject) => void;
}

/**
 * Stores the feedback of a log as a client would have sent it. A list is stored as one impression of each of its candidates.
 */
export class LogFeedback {
  readonly #parts: LogFeedbackParts;

  constructor(parts: LogFeedbackParts) {
    this.#parts = parts;
  }

  /** Stores events. Those of one user are stored in order. @throws any error after which they can be stored again */
  async store(events: readonly (ForeignFeedback | ForeignRanking)[]): Promise<void> {
    const { about, project, carried } = this.#parts;
    const { bodies } = feedbackBodies(events, about, project, carried);
    const lanes = [...groupBy(bodies, laneOf).values()];
    const work = async (): Promise<void> => {
      for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift())
        for (const body of lane) await this.#send(body);
    };
    await Promise.all(Array.from({ length: LANES }, work));
  }

  /** If an event is refused, the others are sent without it. */
  async #send({ head, events }: FeedbackBody): Promise<void> {
    try {
      await this.#parts.target.feedback({ ...head, events });
    } catch (error) {
      if (!isFinal(error)) throw error;
      const [event] = events;
      const middle = events.length >> 1;
      if (middle === 0) this.#parts.refused(error.violations[0]?.detail ?? error.message, event ?? head);
      else
        for (const half of [events.slice(0, middle), events.slice(middle)])
          await this.#send({ head, events: half });
    }
  }
}

/** Whose events they are. */
function laneOf({ head }: FeedbackBody): string {
  return JSON.stringify({ ...head, request_id: null });
}
