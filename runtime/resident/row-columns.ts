import type { Column, ColumnOf } from '../api/columns.js';
import { Status } from '../api/status.js';
import type { ColumnShape } from '../frame/layout.js';
import { looseColumn } from '../frame/frame.js';
import { sizeOfList, sizeOfText, type HeldList } from './sizes.js';

/** A column of the rows: its kind, and where its value lies among the row's values of that kind. */
interface Place {
  readonly kind: Column['kind'];
  readonly at: number;
}

const NO_TEXT = '';
const NO_LIST: HeldList = [];

/**
 * Cells of many rows, kept row by row: the values of one row lie side by side, so that gathering a thousand rows out of
 * a large catalogue touches a few cache lines a row rather than one a cell. A row is replaced whole or not at all.
 */
export class RowColumns {
  readonly shapes: readonly ColumnShape[];
  /** Bytes that a row takes whether or not it holds any text. */
  readonly rowBytes: number;
  readonly #places: readonly Place[];
  readonly #numberCount: number;
  readonly #textCount: number;
  readonly #listCount: number;
  readonly #elementCount: number;
  #status = new Uint8Array(0);
  #numbers = new Float64Array(0);
  #elements = new Float32Array(0);
  readonly #texts: string[] = [];
  readonly #lists: HeldList[] = [];

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
    this.rowBytes = shapes.length + 8 * (numbers + texts + lists) + 4 * elements;
  }

  /** Makes room for `rows` rows in all; those there are kept. */
  grow(rows: number): void {
    const status = new Uint8Array(rows * this.shapes.length);
    status.set(this.#status);
    this.#status = status;
    const numbers = new Float64Array(rows * this.#numberCount);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const elements = new Float32Array(rows * this.#elementCount);
    elements.set(this.#elements);
    this.#elements = elements;
    while (this.#texts.length < rows * this.#textCount) this.#texts.push(NO_TEXT);
    while (this.#lists.length < rows * this.#listCount) this.#lists.push(NO_LIST);
  }

  /** Lets go of everything. */
  reset(): void {
    this.#status = new Uint8Array(0);
    this.#numbers = new Float64Array(0);
    this.#elements = new Float32Array(0);
    this.#texts.length = 0;
    this.#lists.length = 0;
  }

  /** Columns for `rows` rows of the same shapes, to decode into. */
  scratch(rows: number): Column[] {
    return this.shapes.map((shape) => looseColumn(shape, rows));
  }

  /** Replaces a row by one of scratch columns; returns the bytes of its texts. */
  put(row: number, from: readonly Column[], fromRow: number): number {
    const status = row * this.shapes.length;
    let bytes = 0;
    for (let i = 0; i < this.#places.length; i++) {
      const column = from[i] as Column;
      const { at } = this.#places[i] as Place;
      this.#status[status + i] = column.status[fromRow] as number;
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
          const to = row * this.#elementCount + at;
          for (let k = 0; k < column.size; k++) this.#elements[to + k] = column.values[start + k] as number;
          break;
        }
      }
    }
    return bytes;
  }

  /** Lets go of a row's texts. */
  clear(row: number): void {
    for (let i = 0; i < this.#textCount; i++) this.#texts[row * this.#textCount + i] = NO_TEXT;
    for (let i = 0; i < this.#listCount; i++) this.#lists[row * this.#listCount + i] = NO_LIST;
  }

  /**
   * Copies one column's cells to rows `start` to `end` of a column of the frame: row i of it from row `rows[i]`; a
   * negative one is left alone.
   * Lists are not copied here, since a list column is written in ascending order: see `list`.
   */
  gather(column: number, rows: Int32Array, to: Column, start: number, end: number): void {
    const { at } = this.#places[column] as Place;
    const { status } = to;
    const width = this.shapes.length;
    switch (to.kind) {
      case 'number':
        gatherNumbers(
          this.#numbers,
          this.#numberCount,
          at,
          this.#status,
          width,
          column,
          rows,
          to,
          start,
          end,
        );
        break;
      case 'text': {
        const { values } = to;
        for (let i = start; i < end; i++) {
          const row = rows[i] as number;
          if (row < 0) continue;
          values[i] = this.#texts[row * this.#textCount + at] as string;
          status[i] = this.#status[row * width + column] as number;
        }
        break;
      }
      case 'vector':
        for (let i = start; i < end; i++) {
          const row = rows[i] as number;
          if (row < 0) continue;
          const from = row * this.#elementCount + at;
          for (let k = 0; k < to.size; k++) to.values[i * to.size + k] = this.#elements[from + k] as number;
          status[i] = this.#status[row * width + column] as number;
        }
        break;
      default:
        break;
    }
  }

  /** What a cell of a list column holds. It is never changed, so that it outlives the row. */
  list(column: number, row: number): HeldList {
    const { at } = this.#places[column] as Place;
    return this.#lists[row * this.#listCount + at] as HeldList;
  }

  status(column: number, row: number): number {
    return this.#status[row * this.shapes.length + column] ?? Status.absent;
  }
}

/** The loop that most cells go through, apart so that it is compiled for itself. */
function gatherNumbers(
  numbers: Float64Array,
  numberCount: number,
  at: number,
  statuses: Uint8Array,
  width: number,
  column: number,
  rows: Int32Array,
  to: ColumnOf<'number'>,
  start: number,
  end: number,
): void {
  const { values, status } = to;
  for (let i = start; i < end; i++) {
    const row = rows[i] as number;
    if (row < 0) continue;
    values[i] = numbers[row * numberCount + at] as number;
    status[i] = statuses[row * width + column] as number;
  }
}
