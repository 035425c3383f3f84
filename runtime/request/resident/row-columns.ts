import type { Column, ColumnOf } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { ColumnShape } from '../../language/frame/frame-layout.js';
import { startTexts } from '../../language/frame/cells.js';
import { looseColumn, widenVectors } from '../../language/frame/frame.js';
import { CodeLists, spanOf, type ListSpan, type TakenLists } from './code-lists.js';
import { sizeOfNumbers } from './sizes.js';
import { TextCodes, type Room } from './text-codes.js';

/** Two dictionaries; one is undefined unless codes of both are in use. */
export type Dictionaries = readonly (TextCodes | undefined)[];

/** A column of the rows: its kind, and the position of its value among the row's values of that kind. */
interface Place {
  readonly kind: Column['kind'];
  readonly at: number;
}

/** In place of the code of an empty text. */
const NO_TEXT = -1;
const NO_NUMBERS = new Float64Array(0);
/** The rows that one call of `tidy` codes anew. */
const TIDIED_ROWS = 512;
/** Number of rows gathered at a time. A row takes a few hundred bytes, so this many fit the L1 cache. */
const GATHERED_ROWS = 64;

/**
 * Cells of many rows, stored by row: gathering a thousand rows of a large catalogue touches a few cache lines for each
 * row instead of one for each cell. A row is replaced as a whole or not at all.
 */
export class RowColumns {
  readonly shapes: readonly ColumnShape[];
  readonly #places: readonly Place[];
  readonly #numberCount: number;
  readonly #textCount: number;
  readonly #textListCount: number;
  readonly #numberListCount: number;
  readonly #elementCount: number;
  #status = new Uint8Array(0);
  /** By row: 1 if all of its cells are present. */
  #whole = new Uint8Array(0);
  #numbers = new Float64Array(0);
  /** Elements of all vectors: float32 until an element does not fit float32, then float64. */
  #elements: Float32Array | Float64Array = new Float32Array(0);
  /** Of each text 2 · its code + which of the dictionaries has the code, or NO_TEXT. Lists of texts have the same. */
  #texts = new Int32Array(0);
  readonly #textLists = new CodeLists();
  readonly #numberLists: Float64Array[] = [];
  /** The dictionary for new codes, and an earlier one while rows have its codes. The list is replaced as a whole. */
  #dictionaries: Dictionaries;
  /** The one for new codes, and its place. */
  #dictionary: TextCodes;
  #current = 0;
  /** Rows below it may have codes of the earlier dictionary. */
  #untidy = 0;
  readonly #room: Room;
  /** Bytes of the lists of numbers. */
  #listBytes = 0;
  /** Scratch memory of `gather`, which runs without an await. */
  #starts = new Int32Array(0);

  /** @param room what may be kept beside the texts */
  constructor(shapes: readonly ColumnShape[], room: Room) {
    this.shapes = shapes;
    this.#room = room;
    this.#dictionary = new TextCodes(room);
    this.#dictionaries = [this.#dictionary, undefined];
    let numbers = 0;
    let texts = 0;
    let textLists = 0;
    let numberLists = 0;
    let elements = 0;
    this.#places = shapes.map((shape): Place => {
      switch (shape.kind) {
        case 'number':
          return { kind: shape.kind, at: numbers++ };
        case 'text':
          return { kind: shape.kind, at: texts++ };
        case 'texts':
          return { kind: shape.kind, at: textLists++ };
        case 'numbers':
          return { kind: shape.kind, at: numberLists++ };
        case 'vector':
          elements += shape.size;
          return { kind: shape.kind, at: elements - shape.size };
      }
    });
    this.#numberCount = numbers;
    this.#textCount = texts;
    this.#textListCount = textLists;
    this.#numberListCount = numberLists;
    this.#elementCount = elements;
  }

  /** Bytes of a row without its texts. It grows once, when vectors become float64. */
  get rowBytes(): number {
    const lists = this.#textListCount + this.#numberListCount;
    const cells = 8 * (this.#numberCount + lists) + 4 * this.#textCount;
    return 1 + this.shapes.length + cells + this.#elements.BYTES_PER_ELEMENT * this.#elementCount;
  }

  /** Bytes of the texts and lists of all rows, and of what is kept beside the texts. */
  get textBytes(): number {
    let bytes = this.#listBytes + this.#textLists.bytes;
    for (const texts of this.#dictionaries) if (texts !== undefined) bytes += texts.live + texts.taken;
    return bytes;
  }

  /** Grows the capacity to `rows` rows; existing rows are kept. */
  grow(rows: number): void {
    const status = new Uint8Array(rows * this.shapes.length);
    status.set(this.#status);
    this.#status = status;
    const whole = new Uint8Array(rows);
    whole.set(this.#whole);
    this.#whole = whole;
    const numbers = new Float64Array(rows * this.#numberCount);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const length = rows * this.#elementCount;
    const elements =
      this.#elements instanceof Float64Array ? new Float64Array(length) : new Float32Array(length);
    elements.set(this.#elements);
    this.#elements = elements;
    const texts = new Int32Array(rows * this.#textCount).fill(NO_TEXT);
    texts.set(this.#texts);
    this.#texts = texts;
    this.#textLists.grow(rows * this.#textListCount);
    while (this.#numberLists.length < rows * this.#numberListCount) this.#numberLists.push(NO_NUMBERS);
  }

  /** Frees all memory. */
  reset(): void {
    this.#status = new Uint8Array(0);
    this.#whole = new Uint8Array(0);
    this.#starts = new Int32Array(0);
    this.#numbers = new Float64Array(0);
    this.#elements = new Float32Array(0);
    this.#texts = new Int32Array(0);
    this.#textLists.reset();
    this.#numberLists.length = 0;
    this.#listBytes = this.#untidy = 0;
    for (const texts of this.#dictionaries) texts?.leave();
    this.#dictionary = new TextCodes(this.#room);
    this.#dictionaries = [this.#dictionary, undefined];
    this.#current = 0;
  }

  /**
   * Starts a new dictionary if the one in use has too much garbage, and codes some rows anew. Until all are, the texts of the
   * others are given without codes.
   */
  tidy(): void {
    if (this.#textListCount > 0) this.#textLists.tidy();
    if (this.#untidy === 0) {
      if (!this.#dictionary.isWasteful) return;
      this.#dictionary.leave();
      this.#current = 1 - this.#current;
      this.#dictionary = new TextCodes(this.#room);
      this.#dictionaries = this.#dictionaries.with(this.#current, this.#dictionary);
      this.#untidy = this.#whole.length;
    }
    const end = Math.max(0, this.#untidy - TIDIED_ROWS);
    for (let i = end * this.#textCount; i < this.#untidy * this.#textCount; i++)
      this.#texts[i] = this.#anew(this.#texts[i] as number);
    for (let i = end * this.#textListCount; i < this.#untidy * this.#textListCount; i++) {
      const { page, start, end: after } = this.#textLists.at(i);
      if (after > start)
        this.#textLists.put(
          i,
          page.slice(start, after).map((code) => this.#anew(code)),
        );
    }
    this.#untidy = end;
    if (end === 0) this.#dictionaries = this.#dictionaries.with(1 - this.#current, undefined);
  }

  #anew(code: number): number {
    if (code < 0 || (code & 1) === this.#current) return code;
    const text = textOf(this.#dictionaries, code);
    this.#release(code);
    return this.#retain(text);
  }

  #retain(text: string): number {
    return text === '' ? NO_TEXT : 2 * this.#dictionary.retain(text) + this.#current;
  }

  #release(code: number): void {
    if (code >= 0) this.#dictionaries[code & 1]?.release(code >> 1);
  }

  #putTexts(cell: number, codes: readonly number[]): void {
    const { page, start, end } = this.#textLists.at(cell);
    this.#textLists.put(cell, codes);
    for (let i = start; i < end; i++) this.#release(page[i] as number);
  }

  #putNumbers(cell: number, list: Float64Array): void {
    this.#listBytes += sizeOfNumbers(list) - sizeOfNumbers(this.#numberLists[cell] as Float64Array);
    this.#numberLists[cell] = list;
  }

  /** Columns of the same shapes for `rows` rows, to decode into. */
  scratch(rows: number): Column[] {
    return this.shapes.map((shape) => looseColumn(shape, rows));
  }

  /** Replaces a row with a row of scratch columns. */
  put(row: number, from: readonly Column[], fromRow: number): void {
    const status = row * this.shapes.length;
    let whole = 1;
    for (let i = 0; i < this.#places.length; i++) {
      const column = from[i] as Column;
      const { at } = this.#places[i] as Place;
      const cell = column.status[fromRow] as number;
      this.#status[status + i] = cell;
      if (cell !== Status.present) whole = 0;
      switch (column.kind) {
        case 'number':
          this.#numbers[row * this.#numberCount + at] = column.values[fromRow] as number;
          break;
        case 'text': {
          const place = row * this.#textCount + at;
          const before = this.#texts[place] as number;
          this.#texts[place] = this.#retain(column.values[fromRow] as string);
          this.#release(before);
          break;
        }
        case 'texts': {
          const texts = column.values.slice(column.offsets[fromRow], column.offsets[fromRow + 1]);
          this.#putTexts(
            row * this.#textListCount + at,
            texts.map((text) => this.#retain(text)),
          );
          break;
        }
        case 'numbers': {
          const list = column.values.slice(column.offsets[fromRow], column.offsets[fromRow + 1]);
          this.#putNumbers(row * this.#numberListCount + at, list);
          break;
        }
        case 'vector': {
          const start = fromRow * column.size;
          this.#putVector(row * this.#elementCount + at, column.values.subarray(start, start + column.size));
          break;
        }
      }
    }
    this.#whole[row] = whole;
  }

  /** Copies a row of numbers to a row of scratch columns. Columns of other kinds are left as they are. */
  copyNumbers(row: number, to: readonly Column[], toRow: number): void {
    for (let i = 0; i < this.#places.length; i++) {
      const column = to[i] as Column;
      if (column.kind !== 'number') continue;
      const { at } = this.#places[i] as Place;
      column.values[toRow] = this.#numbers[row * this.#numberCount + at] as number;
      column.status[toRow] = this.#status[row * this.shapes.length + i] as number;
    }
  }

  #putVector(to: number, vector: Float32Array | Float64Array): void {
    if (
      vector instanceof Float64Array &&
      this.#elements instanceof Float32Array &&
      !vector.every((element) => Object.is(Math.fround(element), element))
    )
      this.#elements = new Float64Array(this.#elements);
    this.#elements.set(vector, to);
  }

  /** Drops the texts and lists of a row. */
  clear(row: number): void {
    for (let i = row * this.#textCount; i < (row + 1) * this.#textCount; i++) {
      this.#release(this.#texts[i] as number);
      this.#texts[i] = NO_TEXT;
    }
    for (let i = row * this.#textListCount; i < (row + 1) * this.#textListCount; i++) this.#putTexts(i, []);
    for (let i = row * this.#numberListCount; i < (row + 1) * this.#numberListCount; i++)
      this.#putNumbers(i, NO_NUMBERS);
  }

  /**
   * Copies cells to columns of the frame: row i from row `rows[i]`, or absent if that is negative. List columns are
   * skipped, because they must be written in ascending order; see `takeTexts`.
   * @param wanted for each column of `to`: the position of the source column
   * @returns the rows with cells that are not present
   */
  gather(rows: Int32Array, wanted: readonly number[], to: readonly Column[]): readonly number[] {
    const count = rows.length;
    const { starts, odd } = this.#sort(rows);
    for (let c = 0; c < to.length; c++) {
      const column = to[c] as Column;
      this.#gatherStatus(rows, odd, wanted[c] as number, column);
    }
    // A block of rows at a time, so a row stays in the cache for all of its columns.
    for (let first = 0; first < count; first += GATHERED_ROWS) {
      const end = Math.min(count, first + GATHERED_ROWS);
      for (let c = 0; c < to.length; c++) {
        const column = to[c] as Column;
        const { at } = this.#places[wanted[c] as number] as Place;
        if (column.kind === 'number') gatherNumbers(this.#numbers, starts, at, column.values, first, end);
        else if (column.kind === 'text') this.#gatherTexts(rows, at, column, first, end);
        else if (column.kind === 'vector') this.#gatherVectors(rows, at, column, first, end);
      }
    }
    return odd;
  }

  /**
   * By row of the request: where its numbers start (negative for none), and the rows with cells that are not present.
   */
  #sort(rows: Int32Array): { readonly starts: Int32Array; readonly odd: readonly number[] } {
    const count = rows.length;
    if (this.#starts.length < count) this.#starts = new Int32Array(count);
    const starts = this.#starts;
    const odd: number[] = [];
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      starts[i] = row * this.#numberCount;
      if (row < 0 || this.#whole[row] !== 1) odd.push(i);
    }
    return { starts, odd };
  }

  /** Marks all cells as present, then corrects the rows that have other cells. */
  #gatherStatus(rows: Int32Array, odd: readonly number[], column: number, to: Column): void {
    if (to.kind === 'texts' || to.kind === 'numbers') return;
    const { status } = to;
    const width = this.shapes.length;
    status.fill(Status.present, 0, rows.length);
    for (let k = 0; k < odd.length; k++) {
      const i = odd[k] as number;
      const row = rows[i] as number;
      status[i] = row < 0 ? Status.absent : (this.#status[row * width + column] as number);
    }
  }

  #gatherTexts(rows: Int32Array, at: number, to: ColumnOf<'text'>, first: number, end: number): void {
    const { values } = to;
    const { length } = values;
    const codes = to.codes?.length === length ? to.codes : (to.codes = new Int32Array(length));
    to.dictionary = this.#dictionary;
    const { texts } = this.#dictionary;
    for (let i = first; i < end; i++) {
      const row = rows[i] as number;
      const held = row < 0 ? NO_TEXT : (this.#texts[row * this.#textCount + at] as number);
      const isCoded = held >= 0 && (held & 1) === this.#current;
      codes[i] = isCoded ? held >> 1 : -1;
      if (isCoded) values[i] = texts[held >> 1] as string;
      else if (row >= 0) values[i] = textOf(this.#dictionaries, held);
    }
  }

  #gatherVectors(rows: Int32Array, at: number, to: ColumnOf<'vector'>, first: number, end: number): void {
    const elements = this.#elements;
    const values = elements instanceof Float64Array ? widenVectors(to) : to.values;
    const { size } = to;
    for (let i = first; i < end; i++) {
      const row = rows[i] as number;
      if (row < 0) continue;
      const from = row * this.#elementCount + at;
      for (let k = 0; k < size; k++) values[i * size + k] = elements[from + k] as number;
    }
  }

  /**
   * Takes the lists of a column of texts for rows, some of which may be negative. They may be written after an await, and after
   * the rows are evicted.
   */
  takeTexts(column: number, rows: Int32Array, to: ColumnOf<'texts'>): HeldTexts {
    const { at } = this.#places[column] as Place;
    to.dictionary = this.#dictionary;
    return { ...this.#textLists.take(rows, at, this.#textListCount), dictionaries: this.#dictionaries };
  }

  /** The value of a cell with a list of numbers. It may be used after its row is evicted. */
  numbers(column: number, row: number): Float64Array {
    const { at } = this.#places[column] as Place;
    return this.#numberLists[row * this.#numberListCount + at] as Float64Array;
  }

  status(column: number, row: number): number {
    return this.#status[row * this.shapes.length + column] ?? Status.absent;
  }
}

/** Lists of texts by row, and the dictionaries of the time when they were taken. */
export interface HeldTexts extends TakenLists {
  readonly dictionaries: Dictionaries;
}

/** Writes the list of one row, after those of the rows before. */
export function writeHeldList(column: ColumnOf<'texts'>, row: number, held: HeldTexts): void {
  startTexts(column, row);
  const from = column.offsets[row] as number;
  const codes = (column.codes ??= []);
  while (codes.length < from) codes.push(-1);
  column.offsets[row + 1] = writeTexts(column, spanOf(held, row), from, held.dictionaries);
}

/**
 * Writes the lists of the rows from `first` to before `end`, after those of the rows before. Values and codes get the length of
 * all rows at once.
 */
export function writeHeldTexts(column: ColumnOf<'texts'>, held: HeldTexts, first: number, end: number): void {
  const { offsets } = column;
  const { lengths, dictionaries } = held;
  if (first === 0) {
    for (let row = 0; row < lengths.length; row++)
      offsets[row + 1] = (offsets[row] as number) + (lengths[row] as number);
    const length = offsets[lengths.length] as number;
    column.values = new Array<string>(length);
    column.codes = new Array<number>(length);
  }
  for (let row = first; row < end; row++)
    if (lengths[row] !== 0) writeTexts(column, spanOf(held, row), offsets[row] as number, dictionaries);
}

/** @returns the place after the last text */
function writeTexts(
  { values, codes = [], dictionary }: ColumnOf<'texts'>,
  { page, start, end }: ListSpan,
  from: number,
  dictionaries: Dictionaries,
): number {
  let at = from;
  for (let i = start; i < end; i++, at++) {
    const held = page[i] as number;
    const of = held < 0 ? undefined : dictionaries[held & 1];
    values[at] = of === undefined ? '' : (of.texts[held >> 1] as string);
    codes[at] = of !== undefined && of === dictionary ? held >> 1 : -1;
  }
  return at;
}

function textOf(dictionaries: Dictionaries, held: number): string {
  return held < 0 ? '' : (dictionaries[held & 1]?.texts[held >> 1] as string);
}

/** Copies numbers. It is a separate function, so that V8 compiles this hot loop separately. */
function gatherNumbers(
  numbers: Float64Array,
  starts: Int32Array,
  at: number,
  values: Float64Array,
  first: number,
  end: number,
): void {
  for (let i = first; i < end; i++) {
    const start = starts[i] as number;
    if (start >= 0) values[i] = numbers[start + at] as number;
  }
}
