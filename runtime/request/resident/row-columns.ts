import type { Column, ColumnOf } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { ColumnShape } from '../../language/frame/frame-layout.js';
import { looseColumn, widenVectors } from '../../language/frame/frame.js';
import { sizeOfList, sizeOfText, type HeldList } from './sizes.js';

/** A column of the rows: its kind, and the position of its value among the row's values of that kind. */
interface Place {
  readonly kind: Column['kind'];
  readonly at: number;
}

const NO_TEXT = '';
const NO_LIST: HeldList = [];
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
  readonly #listCount: number;
  readonly #elementCount: number;
  #status = new Uint8Array(0);
  /** By row: 1 if all of its cells are present. */
  #whole = new Uint8Array(0);
  #numbers = new Float64Array(0);
  /** Elements of all vectors: float32 until an element does not fit float32, then float64. */
  #elements: Float32Array | Float64Array = new Float32Array(0);
  readonly #texts: string[] = [];
  readonly #lists: HeldList[] = [];
  /** Scratch memory of `gather`, which runs without an await. */
  #starts = new Int32Array(0);

  constructor(shapes: readonly ColumnShape[]) {
    this.shapes = shapes;
    let numbers = 0;
    let texts = 0;
    let lists = 0;
    let elements = 0;
    this.#places = shapes.map((shape): Place => {
      switch (shape.kind) {
        case 'number':
          return { kind: shape.kind, at: numbers++ };
        case 'text':
          return { kind: shape.kind, at: texts++ };
        case 'texts':
        case 'numbers':
          return { kind: shape.kind, at: lists++ };
        case 'vector':
          elements += shape.size;
          return { kind: shape.kind, at: elements - shape.size };
      }
    });
    this.#numberCount = numbers;
    this.#textCount = texts;
    this.#listCount = lists;
    this.#elementCount = elements;
  }

  /** Bytes of a row without its texts. It grows once, when vectors become float64. */
  get rowBytes(): number {
    const cells = this.#numberCount + this.#textCount + this.#listCount;
    return 1 + this.shapes.length + 8 * cells + this.#elements.BYTES_PER_ELEMENT * this.#elementCount;
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
    while (this.#texts.length < rows * this.#textCount) this.#texts.push(NO_TEXT);
    while (this.#lists.length < rows * this.#listCount) this.#lists.push(NO_LIST);
  }

  /** Frees all memory. */
  reset(): void {
    this.#status = new Uint8Array(0);
    this.#whole = new Uint8Array(0);
    this.#starts = new Int32Array(0);
    this.#numbers = new Float64Array(0);
    this.#elements = new Float32Array(0);
    this.#texts.length = 0;
    this.#lists.length = 0;
  }

  /** Columns of the same shapes for `rows` rows, to decode into. */
  scratch(rows: number): Column[] {
    return this.shapes.map((shape) => looseColumn(shape, rows));
  }

  /** Replaces a row with a row of scratch columns; returns the bytes of its texts. */
  put(row: number, from: readonly Column[], fromRow: number): number {
    const status = row * this.shapes.length;
    let bytes = 0;
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
          const text = column.values[fromRow] as string;
          this.#texts[row * this.#textCount + at] = text;
          bytes += sizeOfText(text);
          break;
        }
        case 'texts':
        case 'numbers': {
          const { values, offsets } = column;
          const list = values.slice(offsets[fromRow], offsets[fromRow + 1]);
          this.#lists[row * this.#listCount + at] = list;
          bytes += sizeOfList(list);
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
    return bytes;
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

  /** Drops the texts of a row. */
  clear(row: number): void {
    for (let i = 0; i < this.#textCount; i++) this.#texts[row * this.#textCount + i] = NO_TEXT;
    for (let i = 0; i < this.#listCount; i++) this.#lists[row * this.#listCount + i] = NO_LIST;
  }

  /**
   * Copies cells to columns of the frame: row i from row `rows[i]`, or absent if that is negative. List columns are
   * skipped, because they must be written in ascending order; see `list`.
   * @param wanted for each column of `to`: the position of the source column
   */
  gather(rows: Int32Array, wanted: readonly number[], to: readonly Column[]): void {
    const count = rows.length;
    const { starts, odd } = this.#sort(rows);
    for (let c = 0; c < to.length; c++) this.#gatherStatus(rows, odd, wanted[c] as number, to[c] as Column);
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

  #gatherTexts(rows: Int32Array, at: number, { values }: ColumnOf<'text'>, first: number, end: number): void {
    for (let i = first; i < end; i++) {
      const row = rows[i] as number;
      if (row >= 0) values[i] = this.#texts[row * this.#textCount + at] as string;
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

  /** The value of a list cell. It is immutable, so it may be used after its row is evicted. */
  list(column: number, row: number): HeldList {
    const { at } = this.#places[column] as Place;
    return this.#lists[row * this.#listCount + at] as HeldList;
  }

  status(column: number, row: number): number {
    return this.#status[row * this.shapes.length + column] ?? Status.absent;
  }
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
