import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Column, columnValue, isKnown } from 'millrace/api';

/** A list is an array as PostgreSQL reads it, and a vector has the form that pgvector reads. */
export type Param = string | number | null;

/** The value of a column of the request, to be written as a text in several turns if it is a list. */
export type Unwritten = Param | readonly (string | number)[];

/** Elements of a list that are written in one turn. */
const PORTION = 16_384;

/** The one value of a column of the request. It stays as it is when the column is used for another request. */
export function valueOf(column: Column): Unwritten {
  const value = isKnown(column.status[0] ?? 0) ? (columnValue(column, 0) ?? null) : null;
  return column.kind === 'vector' && value !== null ? JSON.stringify(value) : value;
}

/** The value as the client binds it. The client itself would write a whole list in one turn. */
export async function paramOf(value: Unwritten): Promise<Param> {
  if (typeof value === 'string') return withoutNul(value);
  if (value === null || typeof value === 'number') return value;
  const parts: string[] = [];
  for (let from = 0; from < value.length; from += PORTION) {
    if (from > 0) await nextTurn();
    const portion = value.slice(from, from + PORTION);
    parts.push(portion.map((one) => (typeof one === 'string' ? quoted(one) : one)).join());
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
