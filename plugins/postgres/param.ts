import { type Column, isKnown } from 'millrace/api';

type Param = string | number | readonly (string | number)[] | null;

/** The one value of a column of the request, as the client binds it. A vector has the form that pgvector reads. */
export function paramOf(column: Column): Param {
  if (!isKnown(column.status[0] ?? 0)) return null;
  switch (column.kind) {
    case 'number':
      return column.values[0] ?? null;
    case 'text':
      return withoutNul(column.values[0] ?? '');
    case 'texts':
      return column.values.slice(column.offsets[0], column.offsets[1]).map(withoutNul);
    case 'numbers':
      return [...column.values.subarray(column.offsets[0], column.offsets[1])];
    case 'vector':
      return JSON.stringify([...column.values.subarray(0, column.size)]);
  }
}

/** The server refuses a text with this character. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', ' ');
}
