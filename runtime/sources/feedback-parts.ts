import type { SourceMessage } from '../api/source.js';
import type { JsonObject, JsonValue } from '../api/types.js';
import type { EventKind } from '../config/model/events.js';
import { isReadyMap } from '../config/project/ready-maps.js';
import { feedbackReader } from '../dataset/import/feedback-reader.js';
import type {
  ForeignEvent,
  ForeignFeedback,
  ForeignRanking,
  Owners,
  RowReader,
} from '../dataset/import/foreign-event.js';
import { isWanted } from '../dataset/import/mapped-values.js';
import { readyReader } from '../dataset/import/ready-logs.js';
import { MOST_ITEMS } from '../feedback/check-feedback.js';
import { nearest } from '../core/nearest.js';
import type { IntakeProject, MappedSource } from './intake.js';

/** The kind of feedback of the items of a list that was shown. */
const SHOWN = 'impression';

/** What a message says about users: a body of the feedback route, without anything that the project does not declare. */
export interface FeedbackBody {
  /** The body without its events. Bodies with equal heads can be put together. */
  readonly head: JsonObject;
  readonly events: readonly JsonObject[];
  /** The kinds of what is not used, if any. */
  readonly skipped?: readonly string[];
}

export type FeedbackOf = (
  row: JsonObject,
  message: SourceMessage,
) => FeedbackBody | { readonly problem: string };

/** Returns a function that reads messages by the map of a source, as bodies of feedback. */
export function mappedFeedback(definition: MappedSource, project: IntakeProject): FeedbackOf {
  let time = 0;
  const { map, about } = definition;
  // Kinds of a log that Millrace knows are left out if the project does not declare them.
  const isReady = typeof map === 'string' && isReadyMap(map);
  const reader = isReady ? readyReader(map, about) : columnReader(definition, project, () => time);
  return (row, message) => {
    time = message.time;
    const events: ForeignEvent[] = [];
    const skipped: string[] = [];
    let problem: string | undefined;
    reader.read(row, {
      event: (event) => events.push(event),
      reject: (reason, detail) => {
        problem ??= `${reason}: ${detail}`;
      },
      skip: (what) => skipped.push(what),
    });
    if (problem !== undefined) return { problem };
    const kinds = events.flatMap((event) => (event.is === 'feedback' ? [event.event] : []));
    const unknown = isReady ? undefined : kinds.find((kind) => !project.events.has(kind));
    if (unknown !== undefined) return { problem: unknownKind(unknown, project.events) };
    const body = bodyOf(events, `${message.partition}:${message.id}`, about, project);
    return { ...body, skipped: [...skipped, ...(body.skipped ?? [])] };
  };
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
  return `unknown_event: there is no kind of feedback "${kind}"${help}`;
}

function bodyOf(
  events: readonly ForeignEvent[],
  place: string,
  about: string,
  project: IntakeProject,
): FeedbackBody {
  const found: JsonObject[] = [];
  const skipped: string[] = [];
  let head: JsonObject = {};
  /** How often an item occurred in this message: two lines of an order are two events. */
  const times = new Map<string, number>();
  const eventIdOf = (id: string | undefined, kind: string, candidate: string): string => {
    const key = JSON.stringify([kind, candidate]);
    const count = (times.get(key) ?? 0) + 1;
    times.set(key, count);
    return `${id ?? place}${count === 1 ? '' : `#${count}`}`;
  };
  for (const event of events) {
    if (event.is === 'feedback') {
      const kind = project.events.get(event.event);
      if (kind === undefined) {
        skipped.push(event.event);
        continue;
      }
      head = headOf(event.request, event.owners, project);
      found.push(eventOf(event, kind, eventIdOf(event.id, kind.name, event.candidate), about, project));
    } else if (event.is === 'ranking' && project.events.has(SHOWN)) {
      head = headOf(event.request, event.owners, project);
      found.push(...shownOf(event, (id) => eventIdOf(event.request, SHOWN, id), about, project));
    } else skipped.push(event.is === 'entity' ? `entity ${event.type}` : SHOWN);
  }
  return { head, events: found, skipped };
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
  { time, candidate, position, quantity, values }: ForeignFeedback,
  kind: EventKind,
  id: string,
  about: string,
  project: IntakeProject,
): JsonObject {
  return {
    type: kind.name,
    event_id: id,
    time,
    ...(quantity === 1 ? {} : { quantity: Math.min(quantity, MOST_ITEMS) }),
    ...positionOf(position),
    ...declaredValues(values, kind),
    ...subject(candidate, about, project),
  };
}

function shownOf(
  { time, candidates }: ForeignRanking,
  idOf: (candidate: string) => string,
  about: string,
  project: IntakeProject,
): JsonObject[] {
  return candidates.map(({ id, position }) => ({
    type: SHOWN,
    event_id: idOf(id),
    time,
    ...positionOf(position),
    ...subject(id, about, project),
  }));
}

function positionOf(position: number | undefined): JsonObject {
  return position === undefined || position < 1 || position > MOST_ITEMS ? {} : { position };
}

function subject(id: string, about: string, { entities }: IntakeProject): JsonObject {
  return { [about]: { [entities.get(about)?.key ?? `${about}_id`]: id } };
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
