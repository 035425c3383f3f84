import type { SourceMessage } from '../../ground/api/source.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EventKind } from '../../project/config/model/events.js';
import { isReadyMap } from '../../project/config/project/ready-maps.js';
import { feedbackReader } from '../../project/foreign/feedback-reader.js';
import type {
  EventOutput,
  ForeignEvent,
  ForeignFeedback,
  Owners,
  RowReader,
} from '../../project/foreign/foreign-event.js';
import { lineIds } from '../../project/foreign/line-ids.js';
import { impressionsOf, SHOWN } from '../../project/foreign/listed-feedback.js';
import { isWanted } from '../../project/foreign/mapped-values.js';
import { readyReader } from '../../project/foreign/ready-logs.js';
import { MAX_EVENTS, MOST_ITEMS } from '../feedback/check-feedback.js';
import { nearest } from '../../ground/core/nearest.js';
import type { IntakeProject, MappedSource } from './intake.js';

/** What an event carries of the entity that it is about, by its id. */
type CarriedBy = (id: string) => JsonObject;

/** A body of the feedback route, without anything that the project does not declare. */
export interface FeedbackBody {
  /** The body without its events. Bodies with equal heads can be put together. */
  readonly head: JsonObject;
  readonly events: readonly JsonObject[];
}

/** What a message says about users: a body for each user or request, in the order of their first events. */
export interface MessageFeedback {
  readonly bodies: readonly FeedbackBody[];
  /** The kinds of what is not used. */
  readonly skipped: readonly string[];
}

/** @param rows the events of the message */
export type FeedbackOf = (
  rows: readonly JsonObject[],
  message: SourceMessage,
) => MessageFeedback | { readonly problem: string };

/** Returns a function that reads messages by the map of a source, as bodies of feedback. */
export function mappedFeedback(definition: MappedSource, project: IntakeProject): FeedbackOf {
  let time = 0;
  const { map, about, positionsFrom } = definition;
  // Kinds of a log that Millrace knows are left out if the project does not declare them.
  const isReady = typeof map === 'string' && isReadyMap(map);
  const reader = isReady
    ? readyReader(map, about, positionsFrom)
    : columnReader(definition, project, () => time);
  return (rows, message) => {
    time = message.time;
    const bodies = new Bodies(about, project);
    const skipped: string[] = [];
    for (const [at, row] of rows.entries()) {
      const place = rows.length === 1 ? '' : `[${at}]`;
      const arrival = { time, id: `${message.partition}:${message.id}${place}` };
      const events: ForeignEvent[] = [];
      let problem: string | undefined;
      const output: EventOutput = {
        event: (event) => events.push(event),
        reject: (reason, detail) => {
          problem ??= `${reason}: ${place === '' ? '' : `${place}: `}${detail}`;
        },
        skip: (what) => skipped.push(what),
      };
      reader.read(row, output, arrival);
      const kinds = events.flatMap((event) => (event.is === 'feedback' ? [event.event] : []));
      const unknown = isReady ? undefined : kinds.find((kind) => !project.events.has(kind));
      if (unknown !== undefined) output.reject('unknown_event', unknownKind(unknown, project.events));
      if (problem !== undefined) return { problem };
      skipped.push(...bodies.add(events, arrival.id));
    }
    return { bodies: bodies.all(), skipped };
  };
}

/**
 * The bodies of what a log tells, in the order of their first events. An event without an id gets one only if nothing else
 * identifies it.
 */
export function feedbackBodies(
  events: readonly ForeignEvent[],
  about: string,
  project: IntakeProject,
  carried?: CarriedBy,
): MessageFeedback {
  const bodies = new Bodies(about, project, carried);
  const skipped = bodies.add(events);
  return { bodies: bodies.all(), skipped };
}

/** A mapping of columns; without `event`, the column `type` has the names of kinds. */
function columnReader(
  { map, event, values, where, positionsFrom, about }: MappedSource,
  { events }: IntakeProject,
  timeOf: () => number,
): RowReader {
  const columns = typeof map === 'object' ? map : {};
  const kinds = event ?? Object.fromEntries([...events.keys()].map((kind) => [kind, kind]));
  const source = { files: [], into: 'feedback', map: columns, event: kinds, values } as const;
  const reader = feedbackReader(
    { ...source, positions_from: positionsFrom },
    about,
    ...(columns['time'] === undefined ? [timeOf] : []),
  );
  return { read: (row, output) => (isWanted(row, where) ? reader.read(row, output) : undefined) };
}

function unknownKind(kind: string, events: ReadonlyMap<string, EventKind>): string {
  const guess = nearest(kind, events.keys());
  const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
  return `there is no kind of feedback "${kind}"${help}`;
}

/** The bodies of one message. */
class Bodies {
  readonly #subject: (id: string) => JsonObject;
  readonly #project: IntakeProject;
  readonly #bodies = new Map<string, { readonly head: JsonObject; readonly events: JsonObject[] }>();

  constructor(about: string, project: IntakeProject, carried: CarriedBy = () => ({})) {
    const key = project.entities.get(about)?.key ?? `${about}_id`;
    this.#subject = (id) => ({ [about]: { ...carried(id), [key]: id } });
    this.#project = project;
  }

  /**
   * Adds what one row says.
   * @param place the id of events that the log gives none; undefined: their request, or their time and user, identify them
   * @returns the kinds that the project does not declare
   */
  add(events: readonly ForeignEvent[], place?: string): readonly string[] {
    const project = this.#project;
    const skipped: string[] = [];
    const unnamed = new Map<string, (item: string) => string>();
    const idOf = ({ event: kind, request, owners, time, candidate }: ForeignFeedback): string | undefined => {
      if (place === undefined)
        return request === undefined && !isOwned(owners, project)
          ? `${kind}.${time}.${candidate}`
          : undefined;
      const known = unnamed.get(kind) ?? lineIds(place);
      unnamed.set(kind, known);
      return known(candidate);
    };
    for (const event of events) {
      const told =
        event.is === 'feedback' ? [event] : event.is === 'ranking' ? [...impressionsOf(event)] : [];
      const [first] = told;
      const kind = project.events.get(first?.event ?? '');
      if (first === undefined || kind === undefined)
        skipped.push(event.is === 'entity' ? `entity ${event.type}` : (first?.event ?? SHOWN));
      else
        this.#put(
          first,
          told.map((one) => ({
            ...eventOf(one, kind, one.id ?? idOf(one)),
            ...this.#subject(one.candidate),
          })),
        );
    }
    return skipped;
  }

  all(): readonly FeedbackBody[] {
    return [...this.#bodies.values()].flatMap(({ head, events }) =>
      Array.from({ length: Math.ceil(events.length / MAX_EVENTS) }, (_, i) => ({
        head,
        events: events.slice(i * MAX_EVENTS, (i + 1) * MAX_EVENTS),
      })),
    );
  }

  #put({ request, owners }: ForeignFeedback, events: readonly JsonObject[]): void {
    const head = headOf(request, owners, this.#project);
    const key = JSON.stringify(head);
    const body = this.#bodies.get(key);
    if (body === undefined) this.#bodies.set(key, { head, events: [...events] });
    else body.events.push(...events);
  }
}

function isOwned(owners: Owners, { entities }: IntakeProject): boolean {
  return Object.keys(owners).some((type) => entities.has(type));
}

/** Without anybody that the events belong to, the body says so. */
function headOf(request: string | undefined, owners: Owners, { entities }: IntakeProject): JsonObject {
  const known = Object.entries(owners).flatMap(([type, id]): [string, JsonValue][] => {
    const declared = entities.get(type);
    return declared === undefined ? [] : [[type, { [declared.key]: id }]];
  });
  return {
    ...(request === undefined ? {} : { request_id: request }),
    ...(known.length === 0 ? { user: null } : Object.fromEntries(known)),
  };
}

function eventOf(
  { time, position, quantity, values }: ForeignFeedback,
  kind: EventKind,
  id: string | undefined,
): JsonObject {
  return {
    type: kind.name,
    ...(id === undefined ? {} : { event_id: id }),
    time,
    ...(quantity === 1 ? {} : { quantity: Math.min(quantity, MOST_ITEMS) }),
    ...positionOf(position),
    ...declaredValues(values, kind),
  };
}

function positionOf(position: number | undefined): JsonObject {
  return position === undefined || position < 1 || position > MOST_ITEMS ? {} : { position };
}

/** Values that the project does not declare are left out. Texts become numbers where a number is declared. */
function declaredValues(values: JsonObject, { values: declared }: EventKind): JsonObject {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, JsonValue][] => {
      const type = declared.get(name);
      if (type === undefined) return [];
      const isNumber = type.kind === 'float' || type.kind === 'int';
      const number = isNumber && typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
      return [[name, Number.isNaN(number) ? value : number]];
    }),
  );
}
