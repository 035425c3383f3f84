import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Column, isKnown } from 'millrace/api';

/** A list is an array as PostgreSQL reads it, and a vector has the form that pgvector reads. */
export type Param = string | number | null;

/** The value of a column of the request, to be written as a text in several turns if it is a list. */
export type Unwritten = Param | readonly string[] | Float64Array;

/** Elements of a list that are written in one turn. */
const PORTION = 16_384;

/** The one value of a column of the request. It stays as it is when the column is used for another request. */
export function valueOf(column: Column): Unwritten {
  if (!isKnown(column.status[0] ?? 0)) return null;
  switch (column.kind) {
    case 'number':
      return column.values[0] ?? null;
    case 'text':
      return withoutNul(column.values[0] ?? '');
    case 'texts':
    case 'numbers':
      return column.values.slice(column.offsets[0], column.offsets[1]);
    case 'vector':
      return JSON.stringify([...column.values.subarray(0, column.size)]);
  }
}

/** The value as the client binds it. The client itself would write a whole list in one turn. */
export async function paramOf(value: Unwritten): Promise<Param> {
  if (value === null || typeof value !== 'object') return value;
  const parts: string[] = [];
  for (let from = 0; from < value.length; from += PORTION) {
    if (from > 0) await nextTurn();
    const portion = value.slice(from, from + PORTION);
    parts.push(portion instanceof Float64Array ? portion.join() : portion.map(quoted).join());
  }
  return `{${parts.join()}}`;
}

function quoted(text: string): string {
  return `"${withoutNul(text).replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The server refuses a text with this character. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', ' ');
}
