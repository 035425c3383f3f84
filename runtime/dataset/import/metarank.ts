import type { JsonObject, JsonValue } from '../../api/types.js';
import { idProblem, idText } from '../../core/ids.js';
import type { EventOutput, ForeignCandidate, Owners, RowReader } from './foreign-event.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';

/**
 * Reads the events of Metarank: `item`, `user`, `ranking` and `interaction`, one JSON object a line.
 * Source: the page "Supported events" of Metarank's documentation (doc/event-schema.md, Metarank 0.5 to 0.7).
 * @param candidateType the entity type of the items
 */
export function metarankReader(candidateType: string): RowReader {
  return {
    read(row, output) {
      switch (row.event) {
        case 'item':
          readEntity(row, candidateType, 'item', output);
          break;
        case 'user':
          readEntity(row, 'user', 'user', output);
          break;
        case 'ranking':
          readRanking(row, output);
          break;
        case 'interaction':
          readInteraction(row, output);
          break;
        default:
          output.reject('unknown_event', `event is ${shown(row.event)}`);
      }
    },
  };
}

/** Whether a row is such an event. */
export function isMetarank(row: JsonObject): boolean {
  return (
    ['item', 'user', 'ranking', 'interaction'].includes(plainText(row.event)) &&
    Object.hasOwn(row, 'id') &&
    Object.hasOwn(row, 'timestamp')
  );
}

function readEntity(row: JsonObject, type: string, key: string, output: EventOutput): void {
  const id = readId(row[key], key, output);
  const time = readTime(row.timestamp, 'timestamp', output);
  if (id === undefined || time === undefined) return;
  output.event({ is: 'entity', type, id, time, values: fieldsOf(row.fields) });
}

function readRanking(row: JsonObject, output: EventOutput): void {
  const request = readId(row.id, 'id', output);
  const time = readTime(row.timestamp, 'timestamp', output);
  const owners = ownersOf(row, output);
  if (request === undefined || time === undefined || owners === undefined) return;
  const items = Array.isArray(row.items) ? (row.items as readonly JsonValue[]) : [];
  if (items.length === 0) {
    output.reject('no_candidates', `items is ${Array.isArray(row.items) ? 'empty' : 'not a list'}`);
    return;
  }
  const candidates = items.flatMap((item, at): ForeignCandidate[] => {
    const id = readId(valueAt(item, 'id'), 'items.id', output);
    if (id === undefined) return [];
    const carried = fieldsOf(valueAt(item, 'fields'));
    const relevancy = valueAt(item, 'relevancy') ?? carried.relevancy;
    const score = typeof relevancy === 'number' ? { score: relevancy } : {};
    return [{ id, position: at + 1, ...score, carried: { ...carried, ...relevancyOf(relevancy) }, acts: [] }];
  });
  if (candidates.length > 0)
    output.event({ is: 'ranking', request, time, owners, sent: fieldsOf(row.fields), candidates });
}

function relevancyOf(relevancy: JsonValue | undefined): JsonObject {
  return relevancy === undefined || relevancy === null ? {} : { relevancy };
}

function readInteraction(row: JsonObject, output: EventOutput): void {
  const candidate = readId(row.item, 'item', output);
  const time = readTime(row.timestamp, 'timestamp', output);
  const owners = ownersOf(row, output);
  if (candidate === undefined || time === undefined || owners === undefined) return;
  if (typeof row.type !== 'string' || row.type === '') {
    output.reject('unknown_event', `type is ${shown(row.type)}`);
    return;
  }
  const request = isMissing(row.ranking) ? undefined : readId(row.ranking, 'ranking', output);
  if (request === undefined && !isMissing(row.ranking)) return;
  const { count, quantity, ...values } = fieldsOf(row.fields);
  const id = idProblem(row.id) === undefined ? idText(row.id) : undefined;
  output.event({
    is: 'feedback',
    ...(id === undefined ? {} : { id }),
    event: kindOf(row.type),
    time,
    request,
    owners,
    candidate,
    position: undefined,
    quantity: quantityOf(quantity ?? count),
    values,
  });
}

/** `purchase` is called `order` here, and other types keep their names. */
function kindOf(type: string): string {
  return type === 'purchase' ? 'order' : type;
}

function quantityOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 1 && value < 2 ** 31 ? Math.floor(value) : 1;
}

/** The user, or else the session, is the unit of a request. @returns undefined if an id is not valid */
function ownersOf(row: JsonObject, output: EventOutput): Owners | undefined {
  const key = isMissing(row.user) ? 'session' : 'user';
  if (isMissing(row[key])) return {};
  const id = readId(row[key], key, output);
  return id === undefined ? undefined : { user: id };
}

/** `fields: [{ name, value }, …]` */
function fieldsOf(fields: JsonValue | undefined): JsonObject {
  if (!Array.isArray(fields)) return {};
  return Object.fromEntries(
    (fields as readonly JsonValue[]).flatMap((field): [string, JsonValue][] => {
      const name = valueAt(field, 'name');
      const value = valueAt(field, 'value');
      return typeof name === 'string' && value !== undefined && value !== null ? [[name, value]] : [];
    }),
  );
}
