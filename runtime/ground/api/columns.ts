/**
 * Columns of the frame. The status of a cell says whether its value is known (see `Status`). An unknown value is NaN
 * in a number column, '' in a text column, an empty run in a list column and NaNs in a vector column.
 *
 * `stride` is 1 if the column has a row for each candidate, and 0 if one value serves the whole request. `values[row *
 * stride]` reads both.
 */
interface ColumnBase {
  /** One status per row. */
  status: Uint8Array;
  readonly stride: 0 | 1;
}

/** int, float, timestamp (epoch milliseconds), bool (0 or 1). An unknown value is NaN; known values are finite. */
export interface NumberColumn extends ColumnBase {
  readonly kind: 'number';
  values: Float64Array;
}

/**
 * Numbers for texts that the process keeps. Nothing is ever removed: a dictionary with too much garbage is replaced by another
 * one. What is made of its texts can be kept by their codes.
 */
export interface TextDictionary {
  /** By code. */
  readonly texts: readonly string[];
  /** -1 if it does not have the text. */
  find(text: string): number;
  /** Asks for memory beside the texts, in bytes, for as long as the dictionary lives. False: there is no room. */
  take(bytes: number): boolean;
}

/** Of a column of texts: the values that are in a dictionary. Who writes a value also writes its code, or removes the dictionary. */
interface Coded<C> {
  /** By value; -1 for one that has no code. Valid while there is a dictionary. */
  codes?: C;
  dictionary?: TextDictionary | undefined;
}

/** A string, or the id of a reference. */
export interface TextColumn extends ColumnBase, Coded<Int32Array> {
  readonly kind: 'text';
  values: string[];
}

/** Lists of texts: row r holds `values[offsets[r]] … values[offsets[r + 1] - 1]`. */
export interface TextsColumn extends ColumnBase, Coded<number[]> {
  readonly kind: 'texts';
  values: string[];
  offsets: Int32Array;
}

/** Lists of numbers: row r holds `values[offsets[r]] … values[offsets[r + 1] - 1]`. An unknown element is NaN. */
export interface NumbersColumn extends ColumnBase {
  readonly kind: 'numbers';
  values: Float64Array;
  offsets: Int32Array;
}

/**
 * Vectors of one size: row r holds `values[r * size] … values[r * size + size - 1]`. The values are float32. They
 * become float64 when an element arrives that float32 cannot hold exactly.
 */
export interface VectorColumn extends ColumnBase {
  readonly kind: 'vector';
  readonly size: number;
  values: Float32Array | Float64Array;
}

export type Column = NumberColumn | TextColumn | TextsColumn | NumbersColumn | VectorColumn;
export type ColumnKind = Column['kind'];
export type ColumnOf<K extends ColumnKind> = Extract<Column, { kind: K }>;
