import { type ColumnOf, type Diversity, groupRows, type Input, isKnown, type StepInput } from 'millrace/api';

/** The kinds of values that are compared. */
export type Compared = 'text' | 'texts' | 'vector' | 'numbers';

/** How alike candidates are. Unknown values are like no others. */
export interface Likeness {
  readonly compare: Diversity['compare'];
  /** How many rows have a value. */
  readonly known: number;
}

export function likenessOf(input: StepInput, by: Input<Compared>): Likeness {
  const column = input.column(by);
  switch (column.kind) {
    case 'text':
      return ofTexts(input, by as Input<'text'>);
    case 'texts':
      return ofLists(input, column);
    case 'vector':
      return ofVectors(input, column, (row) => [row * column.stride * column.size, column.size]);
    case 'numbers': {
      const { offsets, stride } = column;
      return ofVectors(input, column, (row) => {
        const start = offsets[row * stride] ?? 0;
        return [start, (offsets[row * stride + 1] ?? 0) - start];
      });
    }
  }
}

function ofTexts(input: StepInput, by: Input<'text'>): Likeness {
  const { groups, known } = groupRows(input, by);
  return {
    known,
    compare: (row, rows, length, alike) => {
      const own = groups[row] ?? -1;
      for (let i = 0; i < length; i++) alike[i] = own >= 0 && groups[rows[i] ?? 0] === own ? 1 : 0;
    },
  };
}

/** The Jaccard index of two lists: common texts / texts of either. Texts that a list repeats count once. */
function ofLists(input: StepInput, { values, offsets, status, stride }: ColumnOf<'texts'>): Likeness {
  const numbers = new Map<string, number>();
  /** By the number of a text: how many lists were read when it was met last. */
  const met: number[] = [];
  const lists: Int32Array[] = [];
  let known = 0;
  let last = -1;
  for (const row of input.rows) {
    const cell = row * stride;
    if (!isKnown(status[cell])) continue;
    known++;
    const start = offsets[cell] ?? 0;
    const end = offsets[cell + 1] ?? 0;
    // Candidates that refer to one entity share its lists.
    if (
      last >= 0 &&
      isRepeat(values, offsets[last * stride] ?? 0, offsets[last * stride + 1] ?? 0, start, end)
    )
      lists[row] = lists[last] ?? NONE;
    else {
      const own = new Int32Array(end - start);
      let length = 0;
      for (let at = start; at < end; at++) {
        const text = values[at] ?? '';
        let number = numbers.get(text);
        if (number === undefined) numbers.set(text, (number = numbers.size));
        if (met[number] !== known) own[length++] = number;
        met[number] = known;
      }
      lists[row] = own.subarray(0, length);
    }
    last = row;
  }
  const isOwn = new Uint8Array(numbers.size);
  return {
    known,
    compare: (row, rows, length, alike) => {
      const own = lists[row] ?? NONE;
      for (const number of own) isOwn[number] = 1;
      for (let i = 0; i < length; i++) {
        const other = lists[rows[i] ?? 0];
        let common = other === own ? own.length : 0;
        if (other !== undefined && other !== own) for (const number of other) common += isOwn[number] ?? 0;
        const either = own.length + (other?.length ?? 0) - common;
        alike[i] = either === 0 ? 0 : common / either;
      }
      for (const number of own) isOwn[number] = 0;
    },
  };
}

const NONE = new Int32Array();

/** Whether the values from `start` to `end` are those of an earlier list. */
function isRepeat(
  values: ArrayLike<unknown>,
  before: number,
  beforeEnd: number,
  start: number,
  end: number,
): boolean {
  if (beforeEnd - before !== end - start) return false;
  for (let i = start; i < end; i++) if (values[i] !== values[before + i - start]) return false;
  return true;
}

/** The cosine of two vectors. Vectors of different sizes, of length 0 or with unknown elements are like no others. */
function ofVectors(
  input: StepInput,
  { values, status, stride }: ColumnOf<'vector' | 'numbers'>,
  placeOf: (row: number) => readonly [start: number, size: number],
): Likeness {
  const starts = new Int32Array(input.count);
  const sizes = new Int32Array(input.count);
  let total = 0;
  for (const row of input.rows) {
    if (!isKnown(status[row * stride])) continue;
    const [start, size] = placeOf(row);
    starts[row] = start;
    sizes[row] = size;
    total += size;
  }
  // Vectors of length 1, one after the other, so that a comparison is one product.
  const units = new Float64Array(total);
  let known = 0;
  let next = 0;
  let [last, lastEnd, unit] = [0, 0, 0];
  for (const row of input.rows) {
    const start = starts[row] ?? 0;
    const size = sizes[row] ?? 0;
    // Candidates that refer to one entity share its vector.
    if (size > 0 && isRepeat(values, last, lastEnd, start, start + size)) {
      starts[row] = unit;
      known++;
      continue;
    }
    let squares = 0;
    for (let at = start; at < start + size; at++) squares += (values[at] ?? 0) ** 2;
    if (!(squares > 0) || !Number.isFinite(squares)) {
      sizes[row] = 0;
      continue;
    }
    const length = Math.sqrt(squares);
    for (let at = 0; at < size; at++) units[next + at] = (values[start + at] ?? 0) / length;
    [last, lastEnd, unit] = [start, start + size, next];
    starts[row] = next;
    next += size;
    known++;
  }
  return {
    known,
    compare: (row, rows, length, alike) => {
      const start = starts[row] ?? 0;
      const size = sizes[row] ?? 0;
      const own = units.slice(start, start + size);
      let [before, cosine] = [-1, 0];
      for (let i = 0; i < length; i++) {
        const other = rows[i] ?? 0;
        const isComparable = size > 0 && sizes[other] === size;
        const from = starts[other] ?? 0;
        if (isComparable && from !== before) [before, cosine] = [from, product(own, units, from)];
        alike[i] = isComparable ? cosine : 0;
      }
    },
  };
}

/** The product of a vector and the elements of another array from `start`. Four sums do not wait for each other. */
function product(own: Float64Array, units: Float64Array, start: number): number {
  const size = own.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = 0;
  for (; at + 3 < size; at += 4) {
    const from = start + at;
    a += (own[at] ?? 0) * (units[from] ?? 0);
    b += (own[at + 1] ?? 0) * (units[from + 1] ?? 0);
    c += (own[at + 2] ?? 0) * (units[from + 2] ?? 0);
    d += (own[at + 3] ?? 0) * (units[from + 3] ?? 0);
  }
  for (; at < size; at++) a += (own[at] ?? 0) * (units[start + at] ?? 0);
  return a + b + c + d;
}
