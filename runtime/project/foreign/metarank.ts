import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { firstOwner } from './first-owner.js';
import type { Arrival, EventOutput, ForeignCandidate, RowReader } from './foreign-event.js';
import { isMissing, plainText, readId, readTime, shown, valueAt } from './read-values.js';

/**
 * Reads the events of Metarank: `item`, `user`, `ranking` and `interaction`, one JSON object a line. Until version 0.4,
 * items were called `metadata`, and an interaction named its ranking as `impression`.
 * Source: the page "Supported events" of Metarank's documentation (doc/event-schema.md, Metarank 0.5 to 0.7;
 * doc/xx_event_schema.md before).
 * @param candidateType the entity type of the items
 */
export function metarankReader(candidateType: string): RowReader {
  return {
    read(row, output, arrival) {
      switch (row.event) {
        case 'item':
        case 'metadata':
          readEntity(row, candidateType, 'item', output, arrival);
          break;
        case 'user':
          readEntity(row, 'user', 'user', output, arrival);
          break;
        case 'ranking':
          readRanking(row, output, arrival);
          break;
        case 'interaction':
          readInteraction(row, output, arrival);
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
    ['item', 'metadata', 'user', 'ranking', 'interaction'].includes(plainText(row.event)) &&
    Object.hasOwn(row, 'id') &&
    Object.hasOwn(row, 'timestamp')
  );
}

function readEntity(
  row: JsonObject,
  type: string,
  key: string,
  output: EventOutput,
  arrival: Arrival | undefined,
): void {
  const id = readId(row[key], key, output);
  const time = readTime(row.timestamp, 'timestamp', output, arrival);
  if (id === undefined || time === undefined) return;
  output.event({ is: 'entity', type, id, time, values: fieldsOf(row.fields) });
}

function readRanking(row: JsonObject, output: EventOutput, arrival: Arrival | undefined): void {
  const request = readId(isMissing(row.id) ? arrival?.id : row.id, 'id', output);
  const time = readTime(row.timestamp, 'timestamp', output, arrival);
  const owners = firstOwner(row, UNITS, output);
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

function readInteraction(row: JsonObject, output: EventOutput, arrival: Arrival | undefined): void {
  const candidate = readId(row.item, 'item', output);
  const time = readTime(row.timestamp, 'timestamp', output, arrival);
  const owners = firstOwner(row, UNITS, output);
  if (candidate === undefined || time === undefined || owners === undefined) return;
  if (typeof row.type !== 'string' || row.type === '') {
    output.reject('unknown_event', `type is ${shown(row.type)}`);
    return;
  }
  const key = isMissing(row.ranking) ? 'impression' : 'ranking';
  const request = isMissing(row[key]) ? undefined : readId(row[key], key, output);
  if (request === undefined && !isMissing(row[key])) return;
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
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && number >= 1 && number < 2 ** 31 ? Math.floor(number) : 1;
}

/** The unit of a request is the user, or else the session. */
const UNITS = ['user', 'session'];

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
