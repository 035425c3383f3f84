import type { Column } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import {
  allAre,
  areSingle,
  areSingleFloats,
  copy,
  copyFloats,
  copySingles,
  copyStatuses,
  statusesOf,
} from './copy-cells.js';
import { crc32cOfWords } from './crc32c.js';
import {
  aligned,
  At,
  COLUMN_HEAD,
  CONSTANT,
  FORMAT_MAJOR,
  FORMAT_MINOR,
  FRAME_HEAD,
  FrameKind,
  LONGEST_FRAME,
  RECORD_HEAD,
  StatusForm,
  Storage,
} from './format.js';
import { RECORD_KINDS } from '../../ground/api/ledger.js';
import type { ColumnType, RecordColumn, RecordSchema } from './record-schema.js';

/** Numbers of the rows, or one number for all rows. undefined is a value without a status of its own: absent. */
export type NumberCells = ArrayLike<number> | number | undefined;
export type TextCells = readonly (string | undefined)[] | string | undefined;
/** Row r holds `values[offsets[r]] … values[offsets[r + 1] - 1]`, as in a column of the frame. */
export interface ListCells<T> {
  readonly values: ArrayLike<T>;
  readonly offsets: ArrayLike<number>;
}

/** Writes numbers into the next column. See RecordWriter for the arguments. */
type NumberMethod = (
  values: NumberCells,
  statuses?: Uint8Array,
  rows?: ArrayLike<number>,
  stride?: 0 | 1,
) => void;

/** How many rows a record has, apart from the record itself. */
export interface RecordRows {
  readonly candidate: number;
  readonly change: number;
}

/** Who writes a record, and when. */
export interface RecordStamp {
  /** 16 bytes. */
  readonly instance: Uint8Array;
  /** From 1, for each kind. */
  readonly sequence: number;
  /** Epoch milliseconds. */
  readonly time: number;
}

const FIRST_BYTES = 64 * 1024;

/** Texts of up to this many characters are copied by a loop, which is faster than a call of Buffer. */
const SHORT_TEXT = 48;

/**
 * Writes one record after another into one growable buffer. Columns are written in the order of the schema, by the
 * method that has the name of the column's type; a whole column is copied at once.
 *
 * All methods take the same arguments: the values; one status for each of them (for nullable columns; without them all
 * are present); the rows to take, in the order to write them (without them the first ones); and the stride, where 0
 * means that the first value stands for all rows.
 */
export class RecordWriter {
  #buffer = new ArrayBuffer(0);
  #bytes = Buffer.alloc(0);
  #float64 = new Float64Array(0);
  #float32 = new Float32Array(0);
  #int32 = new Int32Array(0);
  #at = 0;
  #columnAt = 0;
  #column = 0;
  #schema: RecordSchema | undefined;
  #candidates = 0;
  #changes = 0;

  readonly float64 = this.#numbersOf('float64', Storage.float64);
  readonly float32 = this.#numbersOf('float32', Storage.float32);
  readonly int32 = this.#numbersOf('int32', Storage.int32);
  readonly uint8 = this.#numbersOf('uint8', Storage.uint8);
  /** 0 or 1. */
  readonly bool = this.#numbersOf('bool', Storage.uint8);
  /** Epoch milliseconds. */
  readonly time = this.#numbersOf('time', Storage.float64);

  constructor() {
    this.#grow(FIRST_BYTES);
  }

  /** Starts a record; an unfinished record before it is given up. */
  begin(schema: RecordSchema, rows: RecordRows, stamp: RecordStamp): void {
    this.#schema = schema;
    this.#column = 0;
    this.#candidates = rows.candidate;
    this.#changes = rows.change;
    const bytes = this.#bytes;
    bytes[At.major] = FORMAT_MAJOR;
    bytes[At.minor] = FORMAT_MINOR;
    bytes[At.frameKind] = FrameKind.record;
    bytes[At.recordKind] = RECORD_KINDS.indexOf(schema.kind) + 1;
    this.#int32[At.head / 4] = RECORD_HEAD;
    this.#int32[At.schemaId / 4] = parseInt(schema.id.slice(0, 8), 16);
    this.#int32[At.schemaId / 4 + 1] = parseInt(schema.id.slice(8), 16);
    bytes.set(stamp.instance, At.instance);
    this.#int32[At.sequence / 4] = stamp.sequence;
    this.#int32[At.sequence / 4 + 1] = Math.floor(stamp.sequence / 2 ** 32);
    this.#float64[At.time / 8] = stamp.time;
    this.#int32[At.candidates / 4] = rows.candidate;
    this.#int32[At.changes / 4] = rows.change;
    this.#at = RECORD_HEAD;
  }

  /** @throws Error if the next column of the schema has another name */
  expect(name: string): void {
    const next = this.#schema?.columns[this.#column]?.name;
    if (next !== name) throw new Error(`the column ${name} was written where the schema has ${String(next)}`);
  }

  /** Ends the record. The frame is valid until the next `begin`. */
  finish(): Uint8Array {
    const columns = this.#schema?.columns.length ?? 0;
    if (this.#column !== columns) {
      throw new Error(
        `the record has ${String(this.#column)} columns, and its schema has ${String(columns)}`,
      );
    }
    this.#int32[At.length / 4] = this.#at - FRAME_HEAD;
    this.#int32[At.crc / 4] = crc32cOfWords(this.#int32, FRAME_HEAD / 4, this.#at / 4);
    this.#schema = undefined;
    return this.#bytes.subarray(0, this.#at);
  }

  text(values: TextCells, statuses?: Uint8Array, rows?: ArrayLike<number>, stride: 0 | 1 = 1): void {
    const { count, nullable } = this.#open('text');
    const all = typeof values === 'string' || values === undefined ? [values] : values;
    const constant = all !== values || stride === 0;
    const stored = constant ? Math.min(count, 1) : count;
    const taken = constant ? undefined : rows;
    const own = nullable && statuses === undefined ? statusesOf(all, stored, taken) : statuses;
    this.#statuses(nullable, own, statuses === undefined ? undefined : taken, stored);
    if (count === 0) {
      this.#close(Storage.none);
      return;
    }
    this.#need(stored * 4);
    let ends = this.#at / 4;
    this.#at += stored * 4;
    const start = this.#at;
    for (let row = 0; row < stored; row++) {
      this.#utf8(all[taken === undefined ? row : (taken[row] ?? 0)] ?? '');
      this.#int32[ends++] = this.#at - start;
    }
    this.#close(constant ? Storage.text | CONSTANT : Storage.text);
  }

  texts(cells: ListCells<string>, statuses?: Uint8Array, rows?: ArrayLike<number>, stride: 0 | 1 = 1): void {
    const { count, nullable } = this.#open('texts');
    const stored = stride === 0 ? Math.min(count, 1) : count;
    const taken = stride === 0 ? undefined : rows;
    this.#statuses(nullable, statuses, taken, stored);
    if (count === 0) {
      this.#close(Storage.none);
      return;
    }
    const items = this.#rowEnds(cells.offsets, taken, stored);
    this.#need(4 + items * 4);
    this.#int32[this.#at / 4] = items;
    let ends = this.#at / 4 + 1;
    this.#at += 4 + items * 4;
    const start = this.#at;
    for (let row = 0; row < stored; row++) {
      const from = taken === undefined ? row : (taken[row] ?? 0);
      const end = cells.offsets[from + 1] ?? 0;
      for (let item = cells.offsets[from] ?? 0; item < end; item++) {
        this.#utf8(cells.values[item] ?? '');
        this.#int32[ends++] = this.#at - start;
      }
    }
    this.#close(stride === 0 ? Storage.texts | CONSTANT : Storage.texts);
  }

  numbers(
    cells: ListCells<number>,
    statuses?: Uint8Array,
    rows?: ArrayLike<number>,
    stride: 0 | 1 = 1,
  ): void {
    const { count, nullable } = this.#open('numbers');
    const stored = stride === 0 ? Math.min(count, 1) : count;
    const taken = stride === 0 ? undefined : rows;
    this.#statuses(nullable, statuses, taken, stored);
    if (count === 0) {
      this.#close(Storage.none);
      return;
    }
    const items = this.#rowEnds(cells.offsets, taken, stored);
    this.#at = aligned(this.#at);
    this.#need(items * 8);
    let to = this.#at / 8;
    for (let row = 0; row < stored; row++) {
      const from = taken === undefined ? row : (taken[row] ?? 0);
      const end = cells.offsets[from + 1] ?? 0;
      for (let item = cells.offsets[from] ?? 0; item < end; item++) {
        this.#float64[to++] = cells.values[item] ?? NaN;
      }
    }
    this.#at = to * 8;
    this.#close(stride === 0 ? Storage.numbers | CONSTANT : Storage.numbers);
  }

  /** Row r holds `values[r * size] … values[r * size + size - 1]`; `size` is that of the schema. */
  vector(
    values: Float32Array | Float64Array,
    statuses?: Uint8Array,
    rows?: ArrayLike<number>,
    stride: 0 | 1 = 1,
  ): void {
    const { count, nullable, size } = this.#open('vector');
    const stored = stride === 0 ? Math.min(count, 1) : count;
    const taken = stride === 0 ? undefined : rows;
    this.#statuses(nullable, statuses, taken, stored);
    if (count === 0) {
      this.#close(Storage.none);
      return;
    }
    const wide = values instanceof Float64Array;
    this.#need(stored * size * 8);
    const to = wide ? this.#float64 : this.#float32;
    const start = this.#at / to.BYTES_PER_ELEMENT;
    if (taken === undefined) {
      to.set(values.subarray(0, stored * size), start);
    } else {
      for (let row = 0; row < stored; row++) {
        const from = (taken[row] ?? 0) * size;
        to.set(values.subarray(from, from + size), start + row * size);
      }
    }
    this.#at += stored * size * to.BYTES_PER_ELEMENT;
    const storage = wide ? Storage.float64 : Storage.float32;
    this.#close(stride === 0 ? storage | CONSTANT : storage);
  }

  /** Writes a column of the frame into the next column of the schema, by the type that the schema gives it. */
  column(column: Column, rows?: ArrayLike<number>): void {
    const { status, stride } = column;
    switch (column.kind) {
      case 'number': {
        const type = this.#schema?.columns[this.#column]?.type;
        this[isOfNumbers(type) ? type : 'float64'](column.values, status, rows, stride);
        return;
      }
      case 'text': {
        this.text(column.values, status, rows, stride);
        return;
      }
      case 'texts': {
        this.texts(column, status, rows, stride);
        return;
      }
      case 'numbers': {
        this.numbers(column, status, rows, stride);
        return;
      }
      case 'vector': {
        this.vector(column.values, status, rows, stride);
        return;
      }
    }
  }

  /** The method that writes numbers of a type. */
  #numbersOf(type: ColumnType, storage: number): NumberMethod {
    return (values, statuses, rows, stride = 1) => {
      this.#numbers(type, storage, values, statuses, rows, stride);
    };
  }

  #numbers(
    type: ColumnType,
    storage: number,
    values: NumberCells,
    statuses: Uint8Array | undefined,
    rows: ArrayLike<number> | undefined,
    stride: 0 | 1,
  ): void {
    const { count, nullable } = this.#open(type);
    if (values === undefined || typeof values === 'number') {
      this.#oneStatus(values === undefined && nullable ? Status.absent : Status.present);
      if (count === 0 || values === undefined) {
        this.#close(Storage.none);
        return;
      }
      this.#scalar(storage, values);
      return;
    }
    const stored = stride === 0 ? Math.min(count, 1) : count;
    const taken = stride === 0 ? undefined : rows;
    this.#statuses(nullable, statuses, taken, stored);
    if (count === 0) {
      this.#close(Storage.none);
      return;
    }
    this.#plain(storage, values, taken, stored, stride === 0 ? CONSTANT : 0);
  }

  /** Writes one number for all rows: without the loops of `#plain`, which are slower the more types of lists they see. */
  #scalar(storage: number, value: number): void {
    this.#need(8);
    let stored = storage;
    if (storage === Storage.float64 && (Math.fround(value) === value || Number.isNaN(value)))
      stored = Storage.float32;
    if (stored === Storage.float64) this.#float64[this.#at / 8] = value;
    else if (stored === Storage.float32) this.#float32[this.#at / 4] = value;
    else if (stored === Storage.int32) this.#int32[this.#at / 4] = value;
    else this.#bytes[this.#at] = value;
    this.#at += stored === Storage.float64 ? 8 : stored === Storage.uint8 ? 1 : 4;
    this.#close(stored | CONSTANT);
  }

  #plain(
    storage: number,
    values: ArrayLike<number>,
    rows: ArrayLike<number> | undefined,
    count: number,
    constant: number,
  ): void {
    this.#need(count * 8);
    if (storage === Storage.float64) {
      const isOfFrame = values instanceof Float64Array && (rows === undefined || rows instanceof Int32Array);
      if (isOfFrame ? areSingleFloats(values, rows, count) : areSingle(values, rows, count)) {
        if (isOfFrame) copySingles(values, rows, count, this.#float32, this.#at / 4);
        else copy(values, rows, count, this.#float32, this.#at / 4);
        this.#at += count * 4;
        this.#close(Storage.float32 | constant);
        return;
      }
      if (isOfFrame) copyFloats(values, rows, count, this.#float64, this.#at / 8);
      else copy(values, rows, count, this.#float64, this.#at / 8);
      this.#at += count * 8;
    } else if (storage === Storage.float32) {
      copy(values, rows, count, this.#float32, this.#at / 4);
      this.#at += count * 4;
    } else if (storage === Storage.int32) {
      copy(values, rows, count, this.#int32, this.#at / 4);
      this.#at += count * 4;
    } else {
      copy(values, rows, count, this.#bytes, this.#at);
      this.#at += count;
    }
    this.#close(storage | constant);
  }

  #rowEnds(offsets: ArrayLike<number>, rows: ArrayLike<number> | undefined, stored: number): number {
    this.#need(stored * 4);
    let items = 0;
    let at = this.#at / 4;
    for (let row = 0; row < stored; row++) {
      const from = rows === undefined ? row : (rows[row] ?? 0);
      items += (offsets[from + 1] ?? 0) - (offsets[from] ?? 0);
      this.#int32[at++] = items;
    }
    this.#at += stored * 4;
    return items;
  }

  #statuses(
    nullable: boolean,
    statuses: Uint8Array | undefined,
    rows: ArrayLike<number> | undefined,
    stored: number,
  ): void {
    if (!nullable || statuses === undefined || stored === 0) {
      this.#oneStatus(Status.present);
      return;
    }
    const taken = rows === undefined || rows instanceof Int32Array ? rows : Int32Array.from(rows);
    const first = statuses[taken?.[0] ?? 0] ?? Status.absent;
    if (allAre(first, statuses, taken, stored)) {
      this.#oneStatus(first);
      return;
    }
    this.#need(stored + 8);
    copyStatuses(statuses, taken, stored, this.#bytes, this.#at);
    this.#bytes[this.#columnAt + 5] = StatusForm.bytes;
    this.#bytes[this.#columnAt + 6] = 0;
    this.#at = aligned(this.#at + stored);
  }

  #oneStatus(status: number): void {
    this.#bytes[this.#columnAt + 5] = StatusForm.one;
    this.#bytes[this.#columnAt + 6] = status;
  }

  #open(type: ColumnType): { readonly count: number; readonly nullable: boolean; readonly size: number } {
    const column = this.#schema?.columns[this.#column];
    if (column?.type !== type) throw unexpected(type, this.#column, column);
    this.#need(COLUMN_HEAD);
    this.#columnAt = this.#at;
    this.#at += COLUMN_HEAD;
    const count =
      column.rows === 'candidate' ? this.#candidates : column.rows === 'change' ? this.#changes : 1;
    return { count, nullable: column.nullable, size: column.size ?? 1 };
  }

  #close(storage: number): void {
    const end = aligned(this.#at);
    for (let at = this.#at; at < end; at++) this.#bytes[at] = 0;
    this.#int32[this.#columnAt / 4] = end - this.#columnAt - COLUMN_HEAD;
    this.#bytes[this.#columnAt + 4] = storage;
    this.#bytes[this.#columnAt + 7] = 0;
    this.#at = end;
    this.#column++;
  }

  #utf8(text: string): void {
    this.#need(text.length * 3);
    let at = this.#at;
    if (text.length <= SHORT_TEXT) {
      let place = 0;
      for (; place < text.length; place++) {
        const unit = text.charCodeAt(place);
        if (unit > 127) break;
        this.#bytes[at++] = unit;
      }
      if (place === text.length) {
        this.#at = at;
        return;
      }
    }
    this.#at += this.#bytes.write(text, this.#at);
  }

  /** Makes room for so many more bytes, and for the padding after them. */
  #need(bytes: number): void {
    if (this.#at + bytes + 16 > this.#buffer.byteLength) this.#grow(this.#at + bytes + 16);
  }

  #grow(bytes: number): void {
    if (bytes > LONGEST_FRAME) throw new RangeError('the record is longer than 64 MiB');
    const before = this.#bytes;
    const length = Math.max(aligned(bytes), Math.min(this.#buffer.byteLength * 2, LONGEST_FRAME));
    this.#buffer = new ArrayBuffer(length);
    this.#bytes = Buffer.from(this.#buffer);
    this.#float64 = new Float64Array(this.#buffer);
    this.#float32 = new Float32Array(this.#buffer);
    this.#int32 = new Int32Array(this.#buffer);
    this.#bytes.set(before.subarray(0, this.#at));
  }
}

function isOfNumbers(
  type: ColumnType | undefined,
): type is 'float64' | 'float32' | 'int32' | 'uint8' | 'bool' | 'time' {
  switch (type) {
    case 'float64':
    case 'float32':
    case 'int32':
    case 'uint8':
    case 'bool':
    case 'time':
      return true;
    default:
      return false;
  }
}

function unexpected(type: ColumnType, index: number, column: RecordColumn | undefined): Error {
  const found = column === undefined ? 'no column' : `${column.name} of type ${column.type}`;
  return new Error(
    `a column of type ${type} was written as column ${String(index)}, where the schema has ${found}`,
  );
}
