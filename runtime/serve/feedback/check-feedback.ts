import { storedId } from '../../ground/core/entity-id.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import {
  listField,
  notAnObject,
  nullable,
  readField,
  readFields,
  wholeField,
} from '../../ground/core/body-fields.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { isWellFormed } from '../../ground/core/ids.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { EventKind, EventValueType } from '../../project/config/model/events.js';
import { EVENT_FIELDS } from '../../project/config/project/reserved-names.js';
import { nearest } from '../../ground/core/nearest.js';
import {
  checkCarried,
  readId,
  readKey,
  UnknownFields,
} from '../../request/pipeline/request/check-carried.js';
import { readEventTime, type EventTimes } from '../../ground/core/event-time.js';
import { describe, isJsonObject, misfit, noObject, own } from '../../ground/core/value-fit.js';

/** Most events in one body. */
export const MAX_EVENTS = 1000;
/** How far ahead a client's clock may be, in milliseconds. */
export const CLOCK_AHEAD = 5 * 60_000;
/** Largest quantity or position of an event. */
export const MOST_ITEMS = 65_535;

/** A valid feedback body. */
export interface CheckedFeedback {
  /** Undefined if the events belong to no ranking request. */
  readonly requestId: string | undefined;
  /** The entities that the events belong to. */
  readonly owners: readonly { readonly type: string; readonly id: string }[];
  readonly events: readonly FeedbackEvent[];
}

export interface FeedbackEvent {
  readonly kind: EventKind;
  /** The entity that the event is about. */
  readonly subject: { readonly type: string; readonly id: string; readonly carried: JsonObject };
  /** The client's id of the event. */
  readonly id: string | undefined;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly quantity: number;
  readonly position: number | undefined;
  /** The values of the kind that the event has, by name. */
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** What events can be about and of. */
export interface FeedbackTypes {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** The kinds of feedback of the project, by name. */
  readonly kinds: ReadonlyMap<string, EventKind>;
}

/** When the events arrived, and the accepted range of event times. */
interface Arrival {
  readonly now: number;
  readonly eventTimes: EventTimes;
  /** What the body knows of the events: their request, or else an entity that they belong to. */
  readonly known: 'request' | 'owner' | 'nothing';
}

type Entities = ReadonlyMap<string, EntityType>;

/** The fields of a body beside `request_id`, an id, and the entities that the events belong to. */
export const EVENTS_BODY = { events: listField(MAX_EVENTS) };
const BODY_FIELDS = ['request_id', ...Object.keys(EVENTS_BODY)];
/** A quantity or a position. */
export const COUNT_FIELD = nullable(wholeField(1, MOST_ITEMS));

/** Why nothing identifies an event. */
const UNTOLD = {
  owner:
    'without request_id, an event needs event_id or time; otherwise it would count twice if it is sent again',
  nothing:
    'without request_id and without an entity that the events belong to, an event needs event_id; otherwise it would count twice if it is sent again',
} as const;

/**
 * Checks `{request_id?, events: [0 to 1000 of {type, <entity type>: {…}, time?, quantity?, position?, event_id?,
 * <value>? …}], <entity type>: {…} or null …}`. The body is accepted as a whole or not at all. Without a request id,
 * each event has `event_id` or `time`, which then identify it. If no entity is known that the events belong to, either,
 * each event has `event_id`: the times of two strangers' events can be equal.
 * @param now the time of events that give none, epoch milliseconds
 * @param oldest the oldest accepted event time, epoch milliseconds
 * @throws MillraceError invalid_body
 */
export function* checkFeedback(
  body: unknown,
  types: FeedbackTypes,
  now: number,
  oldest: number,
): Pieces<CheckedFeedback> {
  const violations = new Violations();
  if (!isJsonObject(body))
    throw notAnObject(body, 'The feedback', `an object with ${BODY_FIELDS.join(' and ')}`);
  const sentId = own(body, 'request_id') ?? undefined;
  const requestId = sentId === undefined ? undefined : readId(sentId, '/request_id', violations);
  const owners = readOwners(body, types.entities, violations);
  const events: (FeedbackEvent | undefined)[] = [];
  const eventTimes = { oldest, ahead: CLOCK_AHEAD };
  const known = sentId !== undefined ? 'request' : owners.length > 0 ? 'owner' : 'nothing';
  const arrival = { now, eventTimes, known } as const;
  for (const event of readFields(body, EVENTS_BODY, violations).events ?? []) {
    const pointer = pointerTo('/events', events.length);
    events.push(readEvent(event as JsonValue, types, arrival, pointer, violations));
    yield;
  }
  violations.throwIfAny('The feedback');
  return { requestId, owners, events: events as readonly FeedbackEvent[] };
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
  { entities, kinds }: FeedbackTypes,
  arrival: Arrival,
  pointer: string,
  violations: Violations,
): FeedbackEvent | undefined {
  if (!isJsonObject(event)) {
    violations.add(pointer, 'wrong_type', `expected an event, found ${describe(event)}`);
    return undefined;
  }
  const kind = readKind(own(event, 'type'), kinds, pointerTo(pointer, 'type'), violations);
  const id = readEventId(own(event, 'event_id'), pointerTo(pointer, 'event_id'), violations);
  const sentTime = own(event, 'time') ?? undefined;
  const time = readTime(sentTime, arrival, pointerTo(pointer, 'time'), violations);
  const quantity = readField(own(event, 'quantity'), COUNT_FIELD, pointerTo(pointer, 'quantity'), violations);
  const position = readField(own(event, 'position'), COUNT_FIELD, pointerTo(pointer, 'position'), violations);
  const { known } = arrival;
  const isTold =
    known === 'request' ||
    (own(event, 'event_id') ?? undefined) !== undefined ||
    (known === 'owner' && sentTime !== undefined);
  if (!isTold) violations.add(pointer, 'missing_field', UNTOLD[known]);
  const subjects: string[] = [];
  const values = new Map<string, JsonValue>();
  for (const name of Object.keys(event)) {
    if (EVENT_FIELDS.includes(name)) continue;
    const type = kind?.values.get(name);
    if (type !== undefined) {
      const value = readValue(own(event, name), type, name, pointerTo(pointer, name), violations);
      if (value !== undefined) values.set(name, value);
    } else if (entities.has(name)) subjects.push(name);
    else addUnknownInEvent(name, pointer, { entities, kinds }, kind, violations);
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
  const subjectId = readEntity(event[subject], entity, entities, pointerTo(pointer, subject), violations);
  if (subjectId === undefined || kind === undefined) return undefined;
  const about = { type: subject, id: subjectId, carried: event[subject] as JsonObject };
  return { kind, id, time, quantity: quantity ?? 1, position, values, subject: about };
}

/** Undefined if the event has no such value. */
function readValue(
  value: JsonValue | undefined,
  type: EventValueType,
  name: string,
  pointer: string,
  violations: Violations,
): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  const found = misfit(value, type);
  if (found === undefined) {
    const isBroken = typeof value === 'string' && !isWellFormed(value);
    if (!isBroken) return value;
    violations.add(
      pointer,
      'wrong_type',
      `${name}: expected well-formed Unicode, found half a surrogate pair`,
    );
  } else violations.add(pointer, found.code, `${name}: ${found.detail}`);
  return undefined;
}

function readEventId(
  value: JsonValue | undefined,
  pointer: string,
  violations: Violations,
): string | undefined {
  return value === undefined || value === null ? undefined : readId(value, pointer, violations);
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
    const detail = noObject(entity.key, value);
    violations.add(pointer, 'wrong_type', detail);
    return undefined;
  }
  const place = { pointer, field: entity.name, violations, unknown: new UnknownFields() };
  checkCarried(value, entity, new Map(), entities, place);
  const id = readKey(value, entity, pointerTo(pointer, entity.key), violations);
  return id === undefined ? undefined : storedId(entity, id);
}

function readKind(
  value: JsonValue | undefined,
  kinds: FeedbackTypes['kinds'],
  pointer: string,
  violations: Violations,
): EventKind | undefined {
  const kind = typeof value === 'string' ? kinds.get(value) : undefined;
  if (kind !== undefined) return kind;
  const code = value === undefined ? 'missing_field' : 'wrong_type';
  violations.add(pointer, code, () => {
    const names = [...kinds.keys()];
    const guess = typeof value === 'string' ? nearest(value, names) : undefined;
    const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
    return `type: expected ${names.join(', ')}, found ${describe(value)}${help}`;
  });
  return undefined;
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

/** @param kind the kind of the event; undefined if it is not valid, which is reported already */
function addUnknownInEvent(
  name: string,
  pointer: string,
  { entities, kinds }: FeedbackTypes,
  kind: EventKind | undefined,
  violations: Violations,
): void {
  const having = [...kinds.values()].filter(({ values }) => values.has(name));
  if (having.length === 0) {
    const values = kind === undefined ? [] : [...kind.values.keys()];
    addUnknown(name, pointer, [...EVENT_FIELDS, ...values, ...entities.keys()], violations);
  } else if (kind !== undefined) {
    const names = having.map((one) => `"${one.name}"`).join(', ');
    const detail = `an event of the type "${kind.name}" has no value ${JSON.stringify(name)}; ${names} has it`;
    violations.add(pointerTo(pointer, name), 'unknown_field', detail);
  }
}

function addUnknown(name: string, pointer: string, known: readonly string[], violations: Violations): void {
  violations.add(pointerTo(pointer, name), 'unknown_field', () => {
    const guess = nearest(name, known);
    const help = guess === undefined ? `; there are ${known.join(', ')}` : `; did you mean "${guess}"?`;
    return `there is no field or entity type ${JSON.stringify(shownName(name))}${help}`;
  });
}
