import type { Column, ColumnOf } from '../../../ground/api/columns.js';
import { Status } from '../../../ground/api/status.js';
import type { ValueType } from '../../../ground/api/types.js';
import { writeMissing } from '../../../language/frame/cells.js';
import { checkElements, reserveNumbers, widenVectors } from '../../../language/frame/frame.js';
import { readText, viewOf } from './bytes.js';
import { jsonStep, readJson, type JsonStep, type TailReader } from './json-step.js';
import type { RecordLayout, StoredField } from './record-layout.js';
import {
  FLAG_ASCII,
  isBody,
  NO_BOOL,
  numbersAt,
  State,
  stateOf,
  variableEnd,
  variableStart,
} from './packed-body.js';
import type { WantedColumn } from './wanted-column.js';

/** One column and the field of the layout that it is read from. */
interface FieldStep {
  /** Index into the columns. */
  readonly column: number;
  readonly field: StoredField;
}

/**
 * Decodes the wanted columns from records of one layout. Names are resolved to offsets when the reader is created, so a
 * record needs no lookup and no object except its texts.
 */
export class RecordReader {
  readonly layout: RecordLayout;
  /** Four numbers for each column: index, offset of the state byte, shift, offset of the double. */
  readonly #doubles: Int32Array;
  readonly #bools: readonly FieldStep[];
  readonly #texts: readonly FieldStep[];
  readonly #lists: readonly FieldStep[];
  readonly #numbers: readonly FieldStep[];
  readonly #vectors: readonly FieldStep[];
  readonly #json: readonly JsonStep[];
  readonly #readTail: TailReader | undefined;

  /** @param indices for each wanted column, its index in the columns passed to `read` */
  constructor(
    layout: RecordLayout,
    wanted: readonly WantedColumn[],
    indices: readonly number[],
    readTail: TailReader | undefined,
  ) {
    this.layout = layout;
    this.#readTail = readTail;
    const doubles: number[] = [];
    const steps = {
      bool: [] as FieldStep[],
      text: [] as FieldStep[],
      texts: [] as FieldStep[],
      numbers: [] as FieldStep[],
      vector: [] as FieldStep[],
    };
    const json: JsonStep[] = [];
    wanted.forEach((want, i) => {
      const column = indices[i] ?? 0;
      const field = directField(layout, want);
      if (field === undefined) json.push(jsonStep(layout, want, column));
      else if (field.storage === 'double')
        doubles.push(column, field.stateAt, field.stateShift, field.valueAt);
      else if (field.storage !== 'json') steps[field.storage].push({ column, field });
    });
    this.#doubles = Int32Array.from(doubles);
    this.#bools = steps.bool;
    this.#texts = steps.text;
    this.#lists = steps.texts;
    this.#numbers = steps.numbers;
    this.#vectors = steps.vector;
    this.#json = json;
  }

  /**
   * Writes one row from the body at `at`, which ends at `end` at the latest.
   * @param absent the status of a value that the record does not contain
   * @returns false if the bytes are damaged; some cells of the row may have been written
   */
  read(
    record: Buffer,
    at: number,
    end: number,
    columns: readonly Column[],
    row: number,
    absent: number,
  ): boolean {
    if (!isBody(record, at, end, this.layout)) return false;
    const view = viewOf(record);
    const base = record.byteOffset + at;
    const doubles = this.#doubles;
    for (let i = 0; i < doubles.length; i += 4) {
      const column = columns[doubles[i] as number] as ColumnOf<'number'>;
      const state = ((record[at + (doubles[i + 1] as number)] as number) >> (doubles[i + 2] as number)) & 3;
      if (state === State.present) {
        column.values[row] = view.getFloat64(base + (doubles[i + 3] as number), true);
        column.status[row] = Status.present;
      } else {
        const value = state === State.sent ? view.getFloat64(base + (doubles[i + 3] as number), true) : NaN;
        column.values[row] = value;
        column.status[row] =
          state === State.sent && !Number.isNaN(value) ? Status.present : missing(state, absent);
      }
    }
    for (const step of this.#bools) readBool(record, at, step, columns, row, absent);
    const ascii = ((record[at + 1] as number) & FLAG_ASCII) !== 0;
    for (const { column, field } of this.#texts) {
      const state = stateOf(record, at, field);
      const start = variableStart(record, at, this.layout, field);
      const to = variableEnd(record, at, this.layout, field);
      if (to > end || start > to) return false;
      const target = columns[column] as ColumnOf<'text'>;
      if (state === State.present || (state === State.sent && to > start)) {
        target.values[row] = readText(record, start, to, ascii);
        target.status[row] = Status.present;
      } else {
        target.values[row] = '';
        target.status[row] = missing(state, absent);
      }
    }
    for (const step of this.#lists)
      if (!this.#readTexts(record, at, end, ascii, step, columns, row, absent)) return false;
    for (const step of this.#numbers)
      if (!this.#readNumbers(record, at, end, step, columns, row, absent)) return false;
    for (const step of this.#vectors)
      if (!this.#readVector(record, at, end, step, columns, row, absent)) return false;
    return (
      this.#json.length === 0 ||
      readJson(record, at, end, this.layout, this.#json, this.#readTail, columns, row, absent)
    );
  }

  #readTexts(
    record: Buffer,
    at: number,
    end: number,
    ascii: boolean,
    step: FieldStep,
    columns: readonly Column[],
    row: number,
    absent: number,
  ): boolean {
    const column = columns[step.column] as ColumnOf<'texts'>;
    const state = stateOf(record, at, step.field);
    const start = variableStart(record, at, this.layout, step.field);
    const to = variableEnd(record, at, this.layout, step.field);
    if (to > end || start > to) return false;
    const held = (state === State.present || state === State.sent) && to > start;
    writeMissing(column, row, held ? Status.present : missing(state, absent));
    if (!held) return true;
    if (to - start < 4) return false;
    const count = record.readUInt32LE(start);
    const texts = start + 4 + 4 * count;
    if (texts > to) return false;
    checkElements(column.values.length + count);
    let from = texts;
    for (let i = 0; i < count; i++) {
      const next = texts + record.readUInt32LE(start + 4 + 4 * i);
      if (next < from || next > to) return false;
      column.values.push(readText(record, from, next, ascii));
      from = next;
    }
    column.offsets[row + 1] = column.values.length;
    return true;
  }

  #readNumbers(
    record: Buffer,
    at: number,
    end: number,
    step: FieldStep,
    columns: readonly Column[],
    row: number,
    absent: number,
  ): boolean {
    const column = columns[step.column] as ColumnOf<'numbers'>;
    const state = stateOf(record, at, step.field);
    if (state !== State.present) {
      writeMissing(column, row, missing(state, absent));
      return true;
    }
    const start = variableStart(record, at, this.layout, step.field);
    const to = variableEnd(record, at, this.layout, step.field);
    if (to > end || start > to) return false;
    const { width, count } = numbersAt(record, start, to);
    if (count < 0) return false;
    const first = column.offsets[row] as number;
    reserveNumbers(column, first + count);
    const { values } = column;
    const view = viewOf(record);
    const from = record.byteOffset + start + 1;
    if (width === 8) for (let i = 0; i < count; i++) values[first + i] = view.getFloat64(from + 8 * i, true);
    else for (let i = 0; i < count; i++) values[first + i] = view.getFloat32(from + 4 * i, true);
    column.offsets[row + 1] = first + count;
    column.status[row] = Status.present;
    return true;
  }

  #readVector(
    record: Buffer,
    at: number,
    end: number,
    step: FieldStep,
    columns: readonly Column[],
    row: number,
    absent: number,
  ): boolean {
    const column = columns[step.column] as ColumnOf<'vector'>;
    const state = stateOf(record, at, step.field);
    if (state !== State.present) {
      writeMissing(column, row, missing(state, absent));
      return true;
    }
    const { size } = column;
    const start = variableStart(record, at, this.layout, step.field);
    const length = variableEnd(record, at, this.layout, step.field) - start;
    if (start + length > end || (length !== 4 * size && length !== 8 * size)) return false;
    const view = viewOf(record);
    const from = record.byteOffset + start;
    const to = row * size;
    if (length === 4 * size) {
      const { values } = column;
      for (let i = 0; i < size; i++) values[to + i] = view.getFloat32(from + 4 * i, true);
    } else {
      const values = widenVectors(column);
      for (let i = 0; i < size; i++) values[to + i] = view.getFloat64(from + 8 * i, true);
    }
    column.status[row] = Status.present;
    return true;
  }
}

function readBool(
  record: Buffer,
  at: number,
  { column, field }: FieldStep,
  columns: readonly Column[],
  row: number,
  absent: number,
): void {
  const target = columns[column] as ColumnOf<'number'>;
  const state = stateOf(record, at, field);
  const byte = record[at + field.valueAt] as number;
  const held = state === State.present && byte < NO_BOOL;
  target.values[row] = held ? byte : NaN;
  target.status[row] = held ? Status.present : missing(state, absent);
}

/** The status of a cell whose field has no usable value. */
function missing(state: number, absent: number): number {
  return state === State.absent ? absent : state === State.null ? Status.null : Status.failed;
}

/** The field that can be read directly into the column without checking the type of the value. */
function directField(layout: RecordLayout, want: WantedColumn): StoredField | undefined {
  if (want.path.length !== 1 || want.list) return undefined;
  const field = layout.byName.get(want.path[0] ?? '');
  return field !== undefined && readsAs(field.type, want.type) ? field : undefined;
}

/** Whether every value of the stored type is a valid value of the wanted type, in the same bytes. */
function readsAs(stored: ValueType, wanted: ValueType): boolean {
  switch (wanted.kind) {
    case 'float':
      return stored.kind === 'float' || stored.kind === 'int';
    case 'string':
      return stored.kind === 'string' || stored.kind === 'ref';
    case 'vector':
      return stored.kind === 'vector' && stored.size === wanted.size;
    case 'list':
      return (
        stored.kind === 'list' &&
        wanted.of.kind !== 'record' &&
        stored.of.kind !== 'record' &&
        (wanted.of.kind === stored.of.kind || (wanted.of.kind === 'string' && stored.of.kind === 'ref'))
      );
    case 'record':
      return false;
    default:
      return stored.kind === wanted.kind;
  }
}
