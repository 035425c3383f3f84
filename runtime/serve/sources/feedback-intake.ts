import type { MillraceError } from '../../ground/api/errors.js';
import type { SourceMessage } from '../../ground/api/source.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { callInBackground, inBackground } from '../../ground/core/background.js';
import { groupBy } from '../../ground/core/group-by.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { MAX_EVENTS } from '../feedback/check-feedback.js';
import { mappedFeedback, type FeedbackOf, type MessageFeedback } from './feedback-parts.js';
import type {
  Intake,
  IntakeProject,
  MappedSource,
  Outcome,
  SourceTarget,
  Stored,
  WritePace,
} from './intake.js';
import { isFinal, Outcomes, unreadable } from './refusals.js';
import { readMessage } from './read-message.js';

const EVENT_POINTER = /^\/events\/(\d+)(.*)$/s;
/** The maximum number of reasons in the report of one message. */
const MOST_REASONS = 3;

/** The feedback of one message, or of one of its users. */
interface Part {
  readonly position: number;
  /** Parts with equal keys can be sent in one body. Undefined: it is sent alone. */
  readonly key: string | undefined;
  readonly head: JsonObject;
  readonly events: readonly JsonValue[];
}

/**
 * Stores messages as feedback. Messages of one user are stored in order; those of different users at the same time.
 */
export class FeedbackIntake implements Intake {
  readonly outcomes: readonly Outcome[] = [
    'stored',
    'duplicates',
    'too_old',
    'unused',
    'uncounted',
    'skipped',
    'rejected',
  ];
  readonly #feedbackOf: FeedbackOf | undefined;
  readonly #map: MappedSource['map'];
  readonly #target: Pick<SourceTarget, 'feedback'>;

  constructor(definition: MappedSource, project: IntakeProject, target: Pick<SourceTarget, 'feedback'>) {
    this.#feedbackOf = definition.map === undefined ? undefined : mappedFeedback(definition, project);
    this.#map = definition.map;
    this.#target = target;
  }

  async store(messages: readonly SourceMessage[], pace: WritePace): Promise<Stored> {
    const outcomes = new Outcomes();
    const parts = await inBackground(this.#partsOf(messages, outcomes));
    const lanes = [...groupBy(parts, laneOf).values()];
    const failures: unknown[] = [];
    const work = async (worker: number): Promise<void> => {
      while (failures.length === 0 && worker < Math.max(1, pace.atOnce)) {
        const lane = lanes.shift();
        if (lane === undefined) return;
        for (const body of together(lane)) {
          const began = performance.now();
          await callInBackground(() => this.#send(body, outcomes));
          await pace.rest(performance.now() - began);
        }
      }
    };
    await Promise.all(
      Array.from({ length: Math.max(1, pace.atOnce) }, (_, worker) =>
        work(worker).catch((error: unknown) => void failures.push(error)),
      ),
    );
    if (failures.length > 0) throw failures[0];
    return outcomes.of(messages);
  }

  *#partsOf(messages: readonly SourceMessage[], outcomes: Outcomes): Pieces<Part[]> {
    const parts: Part[] = [];
    for (const [position, message] of messages.entries()) {
      try {
        parts.push(...this.#partsOfOne(message, position, outcomes));
      } catch (error) {
        outcomes.reject(position, unreadable(error));
      }
      yield;
    }
    return parts;
  }

  #partsOfOne(message: SourceMessage, position: number, outcomes: Outcomes): readonly Part[] {
    const read = readMessage(message, this.#map);
    if (read.is === 'unreadable') outcomes.reject(position, read.problem);
    if (read.is === 'nothing') outcomes.skip();
    if (read.is !== 'rows') return [];
    const [native] = read.values;
    if (this.#feedbackOf === undefined && native !== undefined && !Array.isArray(native.events))
      return [{ position, key: undefined, head: native, events: [] }];
    const found = this.#feedbackOf?.(read.values, message) ?? nativeFeedback(native ?? {}, message);
    if ('problem' in found) {
      outcomes.reject(position, found.problem);
      return [];
    }
    if (found.bodies.length === 0) outcomes.skip(found.skipped);
    else outcomes.leftOut(found.skipped);
    return found.bodies.map(({ head, events }) => ({ position, key: JSON.stringify(head), head, events }));
  }

  /** Stores a body. If the events of some messages are wrong, the others are sent again without them. */
  async #send(parts: readonly Part[], outcomes: Outcomes): Promise<void> {
    let left = parts;
    while (left.length > 0) {
      const [first] = left;
      const body =
        first?.key === undefined
          ? (first?.head ?? {})
          : { ...first.head, events: left.flatMap(({ events }) => events) };
      try {
        const answer = await this.#target.feedback(body);
        for (const outcome of ['stored', 'duplicates', 'too_old', 'unused'] as const)
          outcomes.add(outcome, answer[outcome]);
        outcomes.add('uncounted', answer.uncounted ?? 0);
        return;
      } catch (error) {
        if (!isFinal(error)) throw error;
        if (error.code === 'body_too_large' && left.length > 1) {
          const middle = left.length >> 1;
          for (const half of [left.slice(0, middle), left.slice(middle)]) await this.#send(half, outcomes);
          return;
        }
        left = withoutWrong(left, error, outcomes);
      }
    }
  }
}

/** An event without a time happened when its message was added, however often the message is delivered. */
function nativeFeedback({ events, ...head }: JsonObject, { time }: SourceMessage): MessageFeedback {
  const hasRequest = (head['request_id'] ?? null) !== null;
  const timed = (events as unknown as readonly JsonValue[]).map((event) => {
    if (typeof event !== 'object' || event === null || Array.isArray(event)) return event;
    const one = event as JsonObject;
    // Only an id tells two events of one millisecond apart.
    const isKnown = hasRequest || (one['event_id'] ?? null) !== null;
    return isKnown && (one['time'] ?? null) === null ? { ...one, time } : one;
  });
  return {
    bodies: timed.length === 0 ? [] : [{ head, events: timed as readonly JsonObject[] }],
    skipped: [],
  };
}

/** Messages of one lane are stored one after the other: all that belong to the same entities. */
function laneOf({ head, key, position }: Part): string {
  if (key === undefined) return `alone ${position}`;
  const owners = Object.entries(head).filter(([name]) => name !== 'request_id');
  return JSON.stringify(owners);
}

/** Puts consecutive messages into bodies. */
function* together(lane: readonly Part[]): Generator<readonly Part[]> {
  let body: Part[] = [];
  let events = 0;
  for (const part of lane) {
    const fits = part.key !== undefined && part.key === body[0]?.key;
    if (body.length > 0 && (!fits || events + part.events.length > MAX_EVENTS)) {
      yield body;
      [body, events] = [[], 0];
    }
    body.push(part);
    events += part.events.length;
  }
  if (body.length > 0) yield body;
}

/** Rejects the messages that an error names, or all of them if it names none. @returns the others */
function withoutWrong(parts: readonly Part[], error: MillraceError, outcomes: Outcomes): readonly Part[] {
  const reasons = new Map<Part, string[]>();
  const owners = parts.flatMap((part) => part.events.map(() => part));
  for (const { pointer, detail } of error.violations) {
    const [, at, place = ''] = EVENT_POINTER.exec(pointer) ?? [];
    const part = at === undefined ? undefined : owners[Number(at)];
    for (const one of part === undefined ? parts : [part]) {
      const found = reasons.get(one) ?? [];
      const name = place.slice(place.lastIndexOf('/') + 1);
      found.push(
        part === undefined || place === '' || detail.includes(name) ? detail : `${place}: ${detail}`,
      );
      reasons.set(one, found);
    }
  }
  if (reasons.size === 0) for (const part of parts) reasons.set(part, [error.message]);
  for (const [{ position }, found] of reasons) {
    const more = found.length > MOST_REASONS ? `; and ${found.length - MOST_REASONS} more` : '';
    outcomes.reject(position, found.slice(0, MOST_REASONS).join('; ') + more);
  }
  return parts.filter((part) => !reasons.has(part));
}
