import type { Column, NumberColumn } from '../../ground/api/columns.js';
import { DEFAULTED, feastStatus, isKnown, statusAt, type FeastStatus } from '../../ground/api/status.js';
import type { JsonValue, ValueType } from '../../ground/api/types.js';
import type { FeatureView } from '../../project/config/model/views.js';
import { NUMBER_BYTES, writeNumber } from '../../ground/core/json-number.js';
import { JsonText, JsonWriter } from '../../ground/core/json-writer.js';
import type { Pieces } from '../../ground/core/pieces.js';
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

/** For a view: the event time of each row in epoch milliseconds; NaN if the view has no such row. */
export type EventTimes = (view: string) => Float64Array | undefined;

/**
 * How values are written. `millrace`: times are epoch milliseconds, and texts are texts. `feast`: times are whole seconds,
 * as in Feast's feature server, and the JSON that a view declares in texts is written as it is.
 */
export type ValueForms = 'millrace' | 'feast';

/** Rows to decode, or values to write, before other work on the event loop may run. */
export const PIECE = 64;
/** Ids to write before other work on the event loop may run. */
const IDS = 1000;

/** Writes the answer column by column. All features of a view share one list of times, which is written once. */
export function* writeOnlineAnswer(
  { rows, entities, features }: OnlineRequest,
  cells: readonly ReadCells[],
  forms: ValueForms = 'millrace',
): Pieces<JsonText<OnlineAnswer>> {
  const columns = new Map<AskedFeature, Column>();
  const statuses = new Map<number, JsonText>();
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
    writer.write(start);
    for (let row = 0; row < rows; row += IDS) {
      writer.write((row === 0 ? '' : ',') + JSON.stringify(sent.slice(row, row + IDS)).slice(1, -1));
      yield;
    }
    writer.write(`],"statuses":${repeated('"PRESENT"', rows)}`);
    writer.write(`,"event_timestamps":${repeated(NO_TIME_TEXT, rows)}}`);
    start = ',{"values":[';
    yield;
  }
  for (const one of features) {
    const column = columns.get(one) as Column;
    writer.write(start);
    const texts = textOfCells(one, forms);
    if (texts === PLAIN_NUMBERS) yield* writeNumbers(writer, column as NumberColumn, rows);
    else yield* writeValues(writer, column, rows, texts);
    writer.add(statusesText(column, rows, statuses));
    yield;
    writer.add(times.get(one.view) as JsonText);
    writer.write('}');
    start = ',{"values":[';
  }
  writer.write(']}');
  return writer.end();
}

/** The values of some rows of a column, as the inside of a JSON list. */
interface CellTexts {
  readonly valueAt: (column: Column, row: number) => JsonValue;
  readonly textOf: (cells: readonly JsonValue[]) => string;
}

const plainText = (cells: readonly JsonValue[]): string => JSON.stringify(cells).slice(1, -1);

/** Stands for cells that `writeNumbers` writes. */
const PLAIN_NUMBERS: CellTexts = { valueAt: () => null, textOf: plainText };

function textOfCells({ view, feature }: AskedFeature, forms: ValueForms): CellTexts {
  const { type, name } = feature;
  const isPlainNumber =
    type.kind === 'float' || type.kind === 'int' || (type.kind === 'timestamp' && forms === 'millrace');
  if (isPlainNumber) return PLAIN_NUMBERS;
  const plain: CellTexts = { valueAt: (column, row) => valueAt(column, row, type), textOf: plainText };
  if (forms === 'millrace') return plain;
  if (type.kind === 'timestamp')
    return {
      ...plain,
      valueAt: (column, row) => Math.floor((valueAt(column, row, type) as number) / 1000),
    };
  if (view.feast?.json.has(name) === true)
    return { ...plain, textOf: (cells) => cells.map(jsonText).join(',') };
  return plain;
}

/** The JSON that a text holds, or that the texts of a list hold. A text without JSON stays a text. */
function jsonText(cell: JsonValue): string {
  if (Array.isArray(cell)) return `[${(cell as readonly JsonValue[]).map(jsonText).join(',')}]`;
  if (typeof cell !== 'string') return JSON.stringify(cell);
  try {
    JSON.parse(cell);
    return cell;
  } catch {
    return JSON.stringify(cell);
  }
}

/** Writes many values at once; a list or vector of thousands of elements is written alone. */
function* writeValues(
  writer: JsonWriter,
  column: Column,
  rows: number,
  { valueAt, textOf }: CellTexts,
): Pieces<void> {
  let cells: JsonValue[] = [];
  let elements = 0;
  let separator = '';
  for (let row = 0; row < rows; row++) {
    const cell = isKnown(column.status[row]) ? valueAt(column, row) : null;
    cells.push(cell);
    elements += Array.isArray(cell) ? cell.length : 1;
    if (elements < 16 * PIECE && row < rows - 1) continue;
    writer.write(separator + textOf(cells));
    separator = ',';
    cells = [];
    elements = 0;
    yield;
  }
}

/** Writes the same for numbers, without a text for each. */
function* writeNumbers(writer: JsonWriter, { values, status }: NumberColumn, rows: number): Pieces<void> {
  for (let start = 0; start < rows; start += 16 * PIECE) {
    const end = Math.min(start + 16 * PIECE, rows);
    const bytes = Buffer.allocUnsafe((end - start) * (NUMBER_BYTES + 1));
    let at = 0;
    for (let row = start; row < end; row++) {
      if (row > 0) bytes[at++] = COMMA;
      at = writeNumber(bytes, at, isKnown(status[row]) ? (values[row] ?? NaN) : NaN);
    }
    writer.add(new JsonText([bytes.subarray(0, at)]));
    yield;
  }
}
const COMMA = 0x2c;

/** JSON text of each status byte. */
const STATUS_TEXTS = Array.from({ length: 2 * DEFAULTED }, (_, byte) => JSON.stringify(feastStatus(byte)));

/**
 * What stands between the values and the times of a feature.
 * @param known by status byte: the text if all rows have that status, which is made once
 */
function statusesText({ status }: Column, rows: number, known: Map<number, JsonText>): JsonText {
  const first = statusAt(status, 0);
  let same = 1;
  while (same < rows && status[same] === first) same++;
  const found = same < rows ? undefined : known.get(first);
  if (found !== undefined) return found;
  let list = STATUS_TEXTS[first] ?? '';
  if (same >= rows) list = repeated(list, rows);
  else {
    for (let row = 1; row < rows; row++) list += `,${STATUS_TEXTS[statusAt(status, row)] ?? ''}`;
    list = `[${list}]`;
  }
  const text = new JsonText([Buffer.from(`],"statuses":${list},"event_timestamps":`)]);
  if (same >= rows) known.set(first, text);
  return text;
}

function repeated(text: string, times: number): string {
  return times === 0 ? '[]' : `[${`${text},`.repeat(times - 1)}${text}]`;
}

/** The list of a view's event times. Rows written together have the same time, so each text is made once. */
function* timesText(rows: number, times: Float64Array | undefined): Pieces<JsonText> {
  const texts = new Map<number, string>();
  const writer = new JsonWriter();
  writer.write('[');
  for (let row = 0; row < rows; row++) {
    const time = times?.[row] ?? NaN;
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
function timeText(time: number): string {
  if (!(Math.abs(time) <= 8.64e15)) return NO_TIME;
  const micros = Math.round((time - Math.floor(time)) * 1000);
  const text = new Date(Math.floor(time)).toISOString();
  if (micros > 0 && micros < 1000) return `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
  return text.replace('.000Z', 'Z');
}
