import type { Column } from '../api/columns.js';

/** Copies the first rows of a column, so that its reader can do with it what it wants. */
export function copyColumn(column: Column, rows: number): Column {
  const own = column.stride === 0 ? 1 : rows;
  const status = column.status.slice(0, own);
  switch (column.kind) {
    case 'number':
      return { ...column, status, values: column.values.slice(0, own) };
    case 'text':
      return { ...column, status, values: column.values.slice(0, own) };
    case 'vector':
      return { ...column, status, values: column.values.slice(0, own * column.size) };
    case 'texts': {
      const offsets = column.offsets.slice(0, own + 1);
      return { ...column, status, offsets, values: column.values.slice(0, offsets[own] ?? 0) };
    }
    case 'numbers': {
      const offsets = column.offsets.slice(0, own + 1);
      return { ...column, status, offsets, values: column.values.slice(0, offsets[own] ?? 0) };
    }
  }
}
