import type { Column } from '../api/columns.js';
import { DEFAULTED, feastStatus, isKnown, statusAt, type FeastStatus } from '../api/status.js';
import type { JsonValue, ValueType } from '../api/types.js';
import type { FeatureView } from '../config/project/model.js';
import { JsonWriter, type JsonText } from '../core/json-writer.js';
import type { Pieces } from '../core/pieces.js';
import type { AskedFeature, OnlineRequest } from './online-request.js';

/** The body of the answer: one list for each entity and feature, with one element for each row. */
export interface OnlineAnswer {
  readonly metadata: { readonly feature_names: readonly string[] };
  readonly results: readonly {
    readonly values: readonly JsonValue[];
    readonly statuses: readonly FeastStatus[];
    readonly event_timestamps: readonly string[];
  }[];
}

/** The event time that Feast returns for a row without one. */
const NO_TIME = '1970-01-01T00:00:00Z';
const NO_TIME_TEXT = JSON.stringify(NO_TIME);

/** The cells of some features, and the event times of their rows. */
export interface ReadCells {
  readonly asked: readonly AskedFeature[];
  /** By position in `asked`. */
  readonly columns: readonly Column[];
  readonly eventTimes: EventTimes;
}

/** For a view: the event time of a row in epoch milliseconds; undefined if the view has no such row. */
export type EventTimes = (view: string) => (row: number) => number | undefined;

/** Rows to decode, or values to write, before other work on the event loop may run. */
export const PIECE = 64;

/** Writes the answer column by column. All features of a view share one list of times, which is written once. */
export function* writeOnlineAnswer(
  { rows, entities, features }: OnlineRequest,
  cells: readonly ReadCells[],
): Pieces<JsonText<OnlineAnswer>> {
  const columns = new Map<AskedFeature, Column>();
  const times = new Map<FeatureView, JsonText>();
  for (const { asked, columns: read, eventTimes } of cells) {
    for (const [i, one] of asked.entries()) {
      columns.set(one, read[i] as Column);
      if (!times.has(one.view)) times.set(one.view, yield* timesText(rows, eventTimes(one.view.name)));
    }
  }
  const writer = new JsonWriter();
  const names = [...entities, ...features].map(({ name }) => name);
  writer.write(`{"metadata":{"feature_names":${JSON.stringify(names)}},"results":[`);
  let start = '{"values":[';
  for (const { sent } of entities) {
    writer.write(start + JSON.stringify(sent).slice(1));
    writer.write(`,"statuses":${repeated('"PRESENT"', rows)}`);
    writer.write(`,"event_timestamps":${repeated(NO_TIME_TEXT, rows)}}`);
    start = ',{"values":[';
    yield;
  }
  for (const one of features) {
    const column = columns.get(one) as Column;
    writer.write(start);
    yield* writeValues(writer, column, rows, one.feature.type);
    writer.write(`],"statuses":${statusesText(column, rows)},"event_timestamps":`);
    writer.add(times.get(one.view) as JsonText);
    writer.write('}');
    start = ',{"values":[';
  }
  writer.write(']}');
  return writer.end();
}

/** Writes many values with one call of JSON.stringify; a list or vector of thousands of elements gets its own call. */
function* writeValues(writer: JsonWriter, column: Column, rows: number, type: ValueType): Pieces<void> {
  let cells: JsonValue[] = [];
  let elements = 0;
  let separator = '';
  for (let row = 0; row < rows; row++) {
    const cell = isKnown(column.status[row]) ? valueAt(column, row, type) : null;
    cells.push(cell);
    elements += Array.isArray(cell) ? cell.length : 1;
    if (elements < 16 * PIECE && row < rows - 1) continue;
    writer.write(separator + JSON.stringify(cells).slice(1, -1));
    separator = ',';
    cells = [];
    elements = 0;
    yield;
  }
}

/** JSON text of each status byte. */
const STATUS_TEXTS = Array.from({ length: 2 * DEFAULTED }, (_, byte) => JSON.stringify(feastStatus(byte)));

function statusesText({ status }: Column, rows: number): string {
  const [first] = status;
  let same = 1;
  while (same < rows && status[same] === first) same++;
  if (same >= rows) return repeated(STATUS_TEXTS[statusAt(status, 0)] ?? '', rows);
  let text = STATUS_TEXTS[statusAt(status, 0)] ?? '';
  for (let row = 1; row < rows; row++) text += `,${STATUS_TEXTS[statusAt(status, row)] ?? ''}`;
  return `[${text}]`;
}

function repeated(text: string, times: number): string {
  return times === 0 ? '[]' : `[${`${text},`.repeat(times - 1)}${text}]`;
}

/** The list of a view's event times. Rows written together have the same time, so each text is made once. */
function* timesText(rows: number, timeOf: (row: number) => number | undefined): Pieces<JsonText> {
  const texts = new Map<number | undefined, string>();
  const writer = new JsonWriter();
  writer.write('[');
  for (let row = 0; row < rows; row++) {
    const time = timeOf(row);
    let text = texts.get(time);
    if (text === undefined) {
      text = `"${timeText(time)}"`;
      texts.set(time, text);
    }
    writer.write(row === 0 ? text : `,${text}`);
    if (row % PIECE === PIECE - 1) yield;
  }
  writer.write(']');
  return writer.end();
}

function valueAt(column: Column, row: number, type: ValueType): JsonValue {
  switch (column.kind) {
    case 'number': {
      const value = column.values[row] ?? NaN;
      return type.kind === 'bool' ? value !== 0 : value;
    }
    case 'text':
      return column.values[row] ?? null;
    case 'texts':
      return column.values.slice(column.offsets[row], column.offsets[row + 1]);
    case 'numbers':
      return Array.from(column.values.subarray(column.offsets[row], column.offsets[row + 1]));
    case 'vector':
      return Array.from(column.values.subarray(row * column.size, (row + 1) * column.size));
  }
}

/** The JSON form of a protobuf Timestamp, with no fraction, milliseconds or microseconds. */
function timeText(time: number | undefined): string {
  if (time === undefined || !(Math.abs(time) <= 8.64e15)) return NO_TIME;
  const micros = Math.round((time - Math.floor(time)) * 1000);
  const text = new Date(Math.floor(time)).toISOString();
  if (micros > 0 && micros < 1000) return `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
  return text.replace('.000Z', 'Z');
}
