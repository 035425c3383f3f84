import { Status } from '../../ground/api/status.js';

/** Copies cells of a column into a record: those of `rows`, or the first `count`. */
export function copy(
  from: ArrayLike<number>,
  rows: ArrayLike<number> | undefined,
  count: number,
  to: Float64Array | Float32Array | Int32Array | Uint8Array,
  start: number,
): void {
  for (let row = 0; row < count; row++)
    to[start + row] = from[rows === undefined ? row : (rows[row] ?? 0)] ?? NaN;
}

/** As `copy`, for the types of the frame: one machine type for each argument is several times faster. */
export function copyFloats(
  from: Float64Array,
  rows: Int32Array | undefined,
  count: number,
  to: Float64Array,
  start: number,
): void {
  if (rows === undefined) {
    if (from.length === count) to.set(from, start);
    else for (let row = 0; row < count; row++) to[start + row] = from[row] ?? NaN;
  } else for (let row = 0; row < count; row++) to[start + row] = from[rows[row] ?? 0] ?? NaN;
}

/** As `copyFloats`, of numbers that float32 holds exactly. */
export function copySingles(
  from: Float64Array,
  rows: Int32Array | undefined,
  count: number,
  to: Float32Array,
  start: number,
): void {
  if (rows === undefined) for (let row = 0; row < count; row++) to[start + row] = from[row] ?? NaN;
  else for (let row = 0; row < count; row++) to[start + row] = from[rows[row] ?? 0] ?? NaN;
}

/** True if float32 holds the values exactly. Most columns that it does not hold are known by their first values. */
export function areSingle(
  values: ArrayLike<number>,
  rows: ArrayLike<number> | undefined,
  count: number,
): boolean {
  for (let row = 0; row < count; row++) {
    const value = values[rows === undefined ? row : (rows[row] ?? 0)] ?? NaN;
    if (Math.fround(value) !== value && !Number.isNaN(value)) return false;
  }
  return true;
}

/** As `areSingle`, for the types of the frame. */
export function areSingleFloats(values: Float64Array, rows: Int32Array | undefined, count: number): boolean {
  for (let row = 0; row < count; row++) {
    const value = values[rows === undefined ? row : (rows[row] ?? 0)] ?? NaN;
    if (Math.fround(value) !== value && !Number.isNaN(value)) return false;
  }
  return true;
}

export function copyStatuses(
  from: Uint8Array,
  rows: Int32Array | undefined,
  count: number,
  to: Uint8Array,
  start: number,
): void {
  if (rows === undefined) for (let row = 0; row < count; row++) to[start + row] = from[row] ?? Status.absent;
  else for (let row = 0; row < count; row++) to[start + row] = from[rows[row] ?? 0] ?? Status.absent;
}

export function allAre(
  status: number,
  statuses: Uint8Array,
  rows: Int32Array | undefined,
  count: number,
): boolean {
  if (rows === undefined) {
    for (let row = 0; row < count; row++) if (statuses[row] !== status) return false;
  } else for (let row = 0; row < count; row++) if (statuses[rows[row] ?? 0] !== status) return false;
  return true;
}

/** The statuses of texts that come without statuses: undefined is absent. */
export function statusesOf(
  texts: readonly (string | undefined)[],
  count: number,
  rows: ArrayLike<number> | undefined,
): Uint8Array | undefined {
  let statuses: Uint8Array | undefined;
  for (let row = 0; row < count; row++) {
    if (texts[rows === undefined ? row : (rows[row] ?? 0)] !== undefined) continue;
    statuses ??= new Uint8Array(count);
    statuses[row] = Status.absent;
  }
  return statuses;
}
