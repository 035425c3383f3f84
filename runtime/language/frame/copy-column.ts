import type { Column, VectorColumn } from '../../ground/api/columns.js';

/** Where vectors are copied to: at least `length` numbers of the same type. */
export type Spare = (values: VectorColumn['values'], length: number) => VectorColumn['values'];

/** Copies the first rows of a column, so that its reader can do with it what it wants. */
export function copyColumn(column: Column, rows: number, spare: Spare): Column {
  const own = column.stride === 0 ? 1 : rows;
  const status = column.status.slice(0, own);
  switch (column.kind) {
    case 'number':
      return { ...column, status, values: column.values.slice(0, own) };
    case 'text':
      return { ...column, status, values: column.values.slice(0, own), dictionary: undefined };
    case 'vector': {
      const length = own * column.size;
      const values = spare(column.values, length).subarray(0, length);
      values.set(column.values.subarray(0, length));
      return { ...column, status, values };
    }
    case 'texts': {
      const offsets = column.offsets.slice(0, own + 1);
      const values = column.values.slice(0, offsets[own] ?? 0);
      return { ...column, status, offsets, values, dictionary: undefined };
    }
    case 'numbers': {
      const offsets = column.offsets.slice(0, own + 1);
      return { ...column, status, offsets, values: column.values.slice(0, offsets[own] ?? 0) };
    }
  }
}
