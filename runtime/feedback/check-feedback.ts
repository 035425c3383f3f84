import { INTERACTION_TYPES } from '../api/interactions.js';
import type { JsonObject, JsonValue } from '../api/types.js';
import { pointerTo, shownName, Violations } from '../core/violations.js';
import { isBodyList } from '../core/json-list.js';
import type { Pieces } from '../core/pieces.js';
import type { EntityType } from '../config/project/model.js';
import { nearest } from '../core/nearest.js';
import { checkCarried, readId, UnknownFields } from '../pipeline/request/check-carried.js';
import { readEventTime, type EventTimes } from '../core/event-time.js';
import { describe, isJsonObject, own } from '../core/value-fit.js';

/** Most events in one body. */
export const MAX_EVENTS = 1000;
/** How far ahead a client's clock may be, in milliseconds. */
export const CLOCK_AHEAD = 5 * 60_000;
/** Largest quantity or position of an event. */
export const MOST_ITEMS = 65_535;

/** A valid feedback body. */
export interface CheckedFeedback {
  readonly requestId: string;
  /** The entities that the events belong to. */
  readonly owners: readonly { readonly type: string; readonly id: string }[];
  readonly events: readonly FeedbackEvent[];
}

export interface FeedbackEvent {
  /** Position in INTERACTION_TYPES. */
  readonly type: number;
  /** The entity that the event is about. */
  readonly subject: { readonly type: string; readonly id: string; readonly carried: JsonObject };
  /** Epoch milliseconds. */
  readonly time: number;
  readonly quantity: number;
}

/** When the events arrived, and the accepted range of event times. */
interface Arrival {
  readonly now: number;
  readonly eventTimes: EventTimes;
}

type Entities = ReadonlyMap<string, EntityType>;

const BODY_FIELDS = ['request_id', 'events'];
const EVENT_FIELDS = ['type', 'time', 'quantity', 'position'];

/**
 * Checks `{request_id, events: [0 to 1000 of {type, <entity type>: {…}, time?, quantity?, position?}], <entity type>:
 * {…} or null …}`. The body is accepted as a whole or not at all.
 * @param now the time of events that give none, epoch milliseconds
 * @param oldest the oldest accepted event time, epoch milliseconds
 * @throws MillraceError invalid_body
 */
export function* checkFeedback(
  body: unknown,
  entities: Entities,
  now: number,
  oldest: number,
): Pieces<CheckedFeedback> {
  const violations = new Violations();
  if (!isJsonObject(body)) {
    violations.add(
      '',
      'wrong_type',
      `expected an object with request_id and events, found ${describe(body)}`,
    );
    violations.throwIfAny('The feedback');
    throw new Error('the violation did not throw');
  }
  const requestId = readId(own(body, 'request_id'), '/request_id', violations);
  const owners = readOwners(body, entities, violations);
  const list: unknown = own(body, 'events');
  const events: (FeedbackEvent | undefined)[] = [];
  if (!isBodyList(list)) {
    const code = list === undefined ? 'missing_field' : 'wrong_type';
    violations.add('/events', code, `events: expected a list, found ${describe(list)}`);
  } else if (list.length > MAX_EVENTS) {
    violations.add('/events', 'too_many', `events: at most ${MAX_EVENTS}, found ${list.length}`);
  } else {
    const arrival = { now, eventTimes: { oldest, ahead: CLOCK_AHEAD } };
    for (const event of list) {
      const pointer = pointerTo('/events', events.length);
      events.push(readEvent(event as JsonValue, entities, arrival, pointer, violations));
      yield;
    }
  }
  violations.throwIfAny('The feedback');
  return { requestId: requestId as string, owners, events: events as readonly FeedbackEvent[] };
}

/** A null owner means that the client does not know one. */
function readOwners(body: JsonObject, entities: Entities, violations: Violations): CheckedFeedback['owners'] {
  const owners: { type: string; id: string }[] = [];
  const named = Object.keys(body).filter((name) => !BODY_FIELDS.includes(name));
  if (named.length === 0) {
    const detail = 'expected the entity that the events belong to, e.g. user: {"user_id": …}, or user: null';
    violations.add('', 'missing_field', detail);
  }
  for (const name of named) {
    const entity = entities.get(name);
    if (entity === undefined) addUnknown(name, '', [...BODY_FIELDS, ...entities.keys()], violations);
    else if (body[name] !== null) {
      const id = readEntity(body[name], entity, entities, pointerTo('', name), violations);
      if (id !== undefined) owners.push({ type: name, id });
    }
  }
  return owners;
}

function readEvent(
  event: JsonValue,
  entities: Entities,
  arrival: Arrival,
  pointer: string,
  violations: Violations,
): FeedbackEvent | undefined {
  if (!isJsonObject(event)) {
    violations.add(pointer, 'wrong_type', `expected an event, found ${describe(event)}`);
    return undefined;
  }
  const type = readType(own(event, 'type'), pointerTo(pointer, 'type'), violations);
  const time = readTime(own(event, 'time'), arrival, pointerTo(pointer, 'time'), violations);
  const quantity = readCount(own(event, 'quantity'), pointerTo(pointer, 'quantity'), violations);
  readCount(own(event, 'position'), pointerTo(pointer, 'position'), violations);
  const subjects: string[] = [];
  for (const name of Object.keys(event)) {
    if (EVENT_FIELDS.includes(name)) continue;
    if (entities.has(name)) subjects.push(name);
    else addUnknown(name, pointer, [...EVENT_FIELDS, ...entities.keys()], violations);
  }
  const [subject, another] = subjects;
  const entity = entities.get(subject ?? '');
  if (subject === undefined || entity === undefined) {
    violations.add(
      pointer,
      'missing_field',
      'expected the entity that the event is about, e.g. product: {"product_id": …}',
    );
    return undefined;
  }
  if (another !== undefined) {
    const detail = `an event is about one entity, but ${subject} and ${another} are given`;
    violations.add(pointerTo(pointer, another), 'too_many', detail);
  }
  const id = readEntity(event[subject], entity, entities, pointerTo(pointer, subject), violations);
  if (id === undefined) return undefined;
  return { type, time, quantity, subject: { type: subject, id, carried: event[subject] as JsonObject } };
}

/** Returns the id of an entity in the body, after checking the types of its attributes. */
function readEntity(
  value: JsonValue | undefined,
  entity: EntityType,
  entities: Entities,
  pointer: string,
  violations: Violations,
): string | undefined {
  if (!isJsonObject(value)) {
    const detail = `expected an object with ${entity.key}, found ${describe(value)}`;
    violations.add(pointer, 'wrong_type', detail);
    return undefined;
  }
  const place = { pointer, field: entity.name, violations, unknown: new UnknownFields() };
  checkCarried(value, entity, new Map(), entities, place);
  return readId(own(value, entity.key), pointerTo(pointer, entity.key), violations);
}

function readType(value: JsonValue | undefined, pointer: string, violations: Violations): number {
  const types: readonly (JsonValue | undefined)[] = INTERACTION_TYPES;
  const type = types.indexOf(value);
  if (type >= 0) return type;
  const code = value === undefined ? 'missing_field' : 'wrong_type';
  violations.add(pointer, code, () => {
    const guess = typeof value === 'string' ? nearest(value, INTERACTION_TYPES) : undefined;
    const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
    return `type: expected ${INTERACTION_TYPES.join(', ')}, found ${describe(value)}${help}`;
  });
  return 0;
}

function readTime(
  value: JsonValue | undefined,
  { now, eventTimes }: Arrival,
  pointer: string,
  violations: Violations,
): number {
  if (value === undefined || value === null) return now;
  const time = readEventTime(value, 'time', now, eventTimes);
  if (typeof time === 'number') return time;
  violations.add(pointer, time.code, time.detail);
  return now;
}

function readCount(value: JsonValue | undefined, pointer: string, violations: Violations): number {
  if (value === undefined || value === null) return 1;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_ITEMS) return value;
  violations.add(
    pointer,
    'out_of_range',
    `expected a whole number from 1 to ${MOST_ITEMS}, found ${describe(value)}`,
  );
  return 1;
}

function addUnknown(name: string, pointer: string, known: readonly string[], violations: Violations): void {
  violations.add(pointerTo(pointer, name), 'unknown_field', () => {
    const guess = nearest(name, known);
    const help = guess === undefined ? `; there are ${known.join(', ')}` : `; did you mean "${guess}"?`;
    return `there is no field or entity type ${JSON.stringify(shownName(name))}${help}`;
  });
}
