/**
 * Columns of the frame. A cell's status says whether its value is known (see `Status`); the value of a cell that is
 * not known is NaN in a number column, '' in a text column, an empty run in a list column, NaNs in a vector column.
 *
 * `stride` is 1 where the column has a row per candidate and 0 where one value stands for the whole request, so
 * that `values[row * stride]` reads either.
 */
interface ColumnBase {
  /** One status per row. */
  status: Uint8Array;
  readonly stride: 0 | 1;
}

/** int, float, timestamp (epoch milliseconds), bool (0 or 1). NaN where not known; known values are finite. */
export interface NumberColumn extends ColumnBase {
  readonly kind: 'number';
  values: Float64Array;
}

/** string, and the id of a reference. */
export interface TextColumn extends ColumnBase {
  readonly kind: 'text';
  values: string[];
}

/** Lists of texts: row r holds `values[offsets[r]] … values[offsets[r + 1] - 1]`. */
export interface TextsColumn extends ColumnBase {
  readonly kind: 'texts';
  values: string[];
  offsets: Int32Array;
}

/** Lists of numbers, NaN for an element that is not known: row r holds `values[offsets[r]] … values[offsets[r + 1] - 1]`. */
export interface NumbersColumn extends ColumnBase {
  readonly kind: 'numbers';
  values: Float64Array;
  offsets: Int32Array;
}

/**
 * Vectors of one size: row r holds `values[r * size] … values[r * size + size - 1]`. The values are float32 until an
 * element arrives that float32 cannot hold exactly, and float64 from then on.
 */
export interface VectorColumn extends ColumnBase {
  readonly kind: 'vector';
  readonly size: number;
  values: Float32Array | Float64Array;
}

export type Column = NumberColumn | TextColumn | TextsColumn | NumbersColumn | VectorColumn;
export type ColumnKind = Column['kind'];
export type ColumnOf<K extends ColumnKind> = Extract<Column, { kind: K }>;
