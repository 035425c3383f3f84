import type { Column, ColumnKind, ColumnOf, VectorColumn } from '../../ground/api/columns.js';
import type { ComponentEvent } from '../../ground/api/step-input.js';
import type { InteractionEvents } from '../../ground/api/interactions.js';
import { MillraceError } from '../../ground/api/errors.js';
import { Status } from '../../ground/api/status.js';
import type { ColumnShape, Constant, FrameLayout, LayoutColumn } from './frame-layout.js';

/** Up to so many rows, a loop takes less time than `fill`. */
const FEW_ROWS = 32;

/** The events of a history. Other requests may have the same ones. */
export interface FacetEvents {
  /** @param since events up to this time are left out, epoch milliseconds */
  of(facet: string, since: number): InteractionEvents;
}

/** What a preview replaces. */
export interface Preview {
  /** The time at which dated rules are looked up, in place of `now`. */
  readonly at?: number | undefined;
  /** By the step's list: its rules, in place of those in service. */
  readonly rules?: ReadonlyMap<object, unknown> | undefined;
  /** Hears the names of the rules of lists that apply. */
  readonly heard?: ((rules: readonly string[]) => void) | undefined;
}

/**
 * The columnar table of one request's candidates, and the one-row tables of its other entities. One request at a time
 * uses a frame, and the next request reuses it: `reset` sets the number of candidates and marks every cell absent.
 */
export class Frame {
  /** The number of candidates of the request, including filtered ones. */
  count = 0;
  /** When the request started, in epoch milliseconds. `now()` returns this value during the whole request. */
  now = 0;
  /** Undefined if the request is no preview. */
  preview: Preview | undefined;
  /** By the step's list: its rules, if they belong to the plan. Undefined: those in service. */
  rules: ReadonlyMap<object, unknown> | undefined;
  /** The places of the ids in a column, see `IdList`. */
  places: { readonly slot: number; readonly places: Int32Array } | undefined;
  /** The columns, indexed by slot. */
  readonly columns: Column[];
  /** Columns that are written together, indexed by the layout's group numbers. */
  readonly groups: readonly (readonly Column[])[];
  /** The score of each candidate, by row. */
  scores = new Float64Array(0);
  /**
   * Rows of a lower tier rank above all rows of a higher tier, whatever their scores. `top:` and `bury` use tiers.
   */
  tiers = new Int32Array(0);
  /**
   * Feedback histories, indexed by the plan's numbers. Null if the store has no record; undefined if the request does
   * not name the entity.
   */
  readonly histories: (FacetEvents | null | undefined)[] = [];
  /** Feedback events up to this time are not counted, epoch milliseconds. */
  eventsSince = -Infinity;
  /** With the secret `salt`, what the random numbers of steps depend on. */
  requestId = '';
  salt = '';
  /** The events of components, in the order of their steps. */
  readonly emitted: ComponentEvent[] = [];
  /** Memory for copies of vectors, by what they are for. New memory would cost more than the copy. */
  readonly #spares = new Map<string, VectorColumn['values']>();
  #capacity = 0;
  readonly #layout: readonly LayoutColumn[];

  constructor(layout: FrameLayout) {
    this.#layout = layout.columns;
    this.columns = layout.columns.map(createColumn);
    this.groups = layout.groups.map((slots) => slots.map((slot) => this.columns[slot] as Column));
  }

  /** A frame with the columns of a request's frame, followed by new columns. The request's frame does not change. */
  static beside(request: Frame, added: FrameLayout): Frame {
    const own = new Frame(added);
    own.reset(request.count, request.now);
    own.columns.unshift(...request.columns);
    own.scores = request.scores;
    own.tiers = request.tiers;
    return own;
  }

  /**
   * Prepares the frame for a request with `count` candidates.
   * @param others by slot: 1 if the column will be replaced by that of another frame, so that it need not be cleared
   */
  reset(count: number, now: number, others?: Uint8Array): void {
    this.count = count;
    this.now = now;
    this.preview = undefined;
    this.rules = undefined;
    this.places = undefined;
    this.emitted.length = 0;
    if (count > this.#capacity) this.#grow(count);
    this.scores.fill(0, 0, count);
    this.tiers.fill(0, 0, count);
    const layout = this.#layout;
    for (let slot = 0; slot < this.columns.length; slot++) {
      if (layout[slot]?.constant !== undefined || others?.[slot] === 1) continue;
      const column = this.columns[slot] as Column;
      const rows = column.stride === 0 ? 1 : count;
      if (column.kind !== 'number' || rows > FEW_ROWS) {
        clearColumn(column, rows);
        continue;
      }
      const { status, values } = column;
      for (let row = 0; row < rows; row++) {
        status[row] = Status.absent;
        values[row] = NaN;
      }
    }
  }

  /** Marks every cell of a column absent. */
  clear(slot: number): void {
    const column = this.columns[slot];
    if (column !== undefined) clearColumn(column, column.stride === 0 ? 1 : this.count);
  }

  /** Returns the shape of a column. @throws RangeError if the layout has no such slot */
  shape(slot: number): ColumnShape {
    const column = this.#layout[slot];
    if (column === undefined) throw new RangeError(`the frame has no column ${slot}`);
    return column.shape;
  }

  number(slot: number): ColumnOf<'number'> {
    return this.columns[slot] as ColumnOf<'number'>;
  }

  text(slot: number): ColumnOf<'text'> {
    return this.columns[slot] as ColumnOf<'text'>;
  }

  texts(slot: number): ColumnOf<'texts'> {
    return this.columns[slot] as ColumnOf<'texts'>;
  }

  numbers(slot: number): ColumnOf<'numbers'> {
    return this.columns[slot] as ColumnOf<'numbers'>;
  }

  vector(slot: number): ColumnOf<'vector'> {
    return this.columns[slot] as ColumnOf<'vector'>;
  }

  /** Memory for a copy of vectors, of the same type. The next request reuses it. */
  spare(use: string, like: VectorColumn['values'], length: number): VectorColumn['values'] {
    const isWide = like instanceof Float64Array;
    const kept = this.#spares.get(use);
    if (kept !== undefined && kept.length >= length && kept instanceof Float64Array === isWide) return kept;
    const made = isWide ? new Float64Array(like.length) : new Float32Array(like.length);
    this.#spares.set(use, made);
    return made;
  }

  #grow(count: number): void {
    const capacity = Math.max(count, 2 * this.#capacity, 32);
    this.#capacity = capacity;
    this.scores = new Float64Array(capacity);
    this.tiers = new Int32Array(capacity);
    for (const column of this.columns) {
      if (column.stride === 1) sizeColumn(column, capacity);
    }
  }
}

/** Frames that no request uses at the moment, so that the next request allocates none. */
export class FramePool {
  readonly #layout: FrameLayout;
  readonly #idle: Frame[] = [];
  readonly #most: number;

  /** @param most the number of idle frames that are kept; more exist only while more requests are in flight */
  constructor(layout: FrameLayout, most = 16) {
    this.#layout = layout;
    this.#most = most;
  }

  /** @param others see `Frame.reset` */
  acquire(count: number, now: number, others?: Uint8Array): Frame {
    const frame = this.#idle.pop() ?? new Frame(this.#layout);
    frame.reset(count, now, others);
    return frame;
  }

  /** Returns a frame to the pool. The caller must not use it afterwards. */
  release(frame: Frame): void {
    if (this.#idle.length < this.#most) this.#idle.push(frame);
  }
}

/** Creates a column of the shape that belongs to no frame. Every cell is absent. */
export function looseColumn(shape: ColumnShape, rows: number): Column {
  const column = emptyColumn(shape.kind, 1, shape.kind === 'vector' ? shape.size : 0);
  sizeColumn(column, rows);
  clearColumn(column, rows);
  return column;
}

function createColumn({ shape, constant }: LayoutColumn): Column {
  const stride = shape.scope === 'request' ? 0 : 1;
  const column = emptyColumn(shape.kind, stride, shape.kind === 'vector' ? shape.size : 0);
  sizeColumn(column, 1);
  if (constant !== undefined) setConstant(column, constant);
  else clearColumn(column, 1);
  return column;
}

function emptyColumn(kind: ColumnKind, stride: 0 | 1, size: number): Column {
  const status = new Uint8Array(0);
  switch (kind) {
    case 'number':
      return { kind, stride, status, values: new Float64Array(0) };
    case 'text':
      return { kind, stride, status, values: [], codes: new Int32Array(0), dictionary: undefined };
    case 'texts':
      return {
        kind,
        stride,
        status,
        values: [],
        offsets: new Int32Array(1),
        codes: [],
        dictionary: undefined,
      };
    case 'numbers':
      return { kind, stride, status, values: new Float64Array(0), offsets: new Int32Array(1) };
    case 'vector':
      return { kind, stride, status, size, values: new Float32Array(0) };
  }
}

function sizeColumn(column: Column, rows: number): void {
  column.status = new Uint8Array(rows);
  switch (column.kind) {
    case 'number':
      column.values = new Float64Array(rows);
      break;
    case 'text':
      column.values = new Array<string>(rows).fill('');
      break;
    case 'texts':
    case 'numbers':
      column.offsets = new Int32Array(rows + 1);
      break;
    case 'vector':
      column.values =
        column.values instanceof Float64Array
          ? new Float64Array(rows * column.size)
          : new Float32Array(rows * column.size);
      break;
  }
}

/** Marks the first `rows` cells absent. */
function clearColumn(column: Column, rows: number): void {
  column.status.fill(Status.absent, 0, rows);
  if (column.kind === 'text' || column.kind === 'texts') column.dictionary = undefined;
  switch (column.kind) {
    case 'number':
      column.values.fill(NaN, 0, rows);
      break;
    case 'text':
      column.values.fill('', 0, rows);
      break;
    case 'texts':
      column.values.length = 0;
      column.offsets.fill(0, 0, rows + 1);
      break;
    case 'numbers':
      column.offsets.fill(0, 0, rows + 1);
      break;
    case 'vector':
      column.values.fill(NaN, 0, rows * column.size);
      break;
  }
}

function setConstant(column: Column, constant: Constant): void {
  column.status[0] = Status.present;
  if (column.kind === 'number' && constant.kind === 'number') column.values[0] = constant.value;
  else if (column.kind === 'text' && constant.kind === 'text') column.values[0] = constant.value;
  else if (column.kind === 'texts' && constant.kind === 'texts') {
    column.values = [...constant.value];
    column.offsets[1] = constant.value.length;
  } else if (column.kind === 'numbers' && constant.kind === 'numbers') {
    column.values = Float64Array.from(constant.value);
    column.offsets[1] = constant.value.length;
  }
}

/** Converts the values of a vector column to float64, which holds any element exactly. Existing values are kept. */
export function widenVectors(column: ColumnOf<'vector'>): Float64Array {
  if (column.values instanceof Float64Array) return column.values;
  const values = new Float64Array(column.values);
  column.values = values;
  return values;
}

/** The most elements of a list column. */
const MOST_ELEMENTS = 1 << 24;
/** The same by kind if candidates repeat a list of the request, or of an entity that they share: few bytes make many elements. */
export const MOST_REPEATED = { numbers: 1 << 20, texts: 3 << 17 };

/** @throws MillraceError invalid_body if a list column has too many elements */
export function checkElements(length: number, allowed = MOST_ELEMENTS): void {
  if (length <= allowed) return;
  const most = allowed.toLocaleString('en');
  const detail = `the candidates together have more than ${most} elements of one list, of the request or of an entity that they share; send fewer candidates or shorter lists`;
  throw new MillraceError('invalid_body', detail);
}

/** Makes room for `length` elements in a numbers column. Existing elements are kept. @throws as `checkElements` */
export function reserveNumbers(column: ColumnOf<'numbers'>, length: number, allowed?: number): void {
  checkElements(length, allowed);
  if (column.values.length >= length) return;
  const values = new Float64Array(Math.max(length, Math.min(MOST_ELEMENTS, 2 * column.values.length)));
  values.set(column.values);
  column.values = values;
}
