import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { idProblem, idText } from '../../../ground/core/ids.js';
import type { EventOutput, ForeignAct } from '../../../project/foreign/foreign-event.js';
import type { RankingSource } from '../../../project/foreign/mapping.js';
import {
  foreignTime,
  isMissing,
  listOf,
  NO,
  shown,
  valueAt,
  YES,
} from '../../../project/foreign/read-values.js';

const NONE: ReadonlySet<string> = new Set(['none', 'null', 'nan']);
/** A number this large is a time, not a quantity. */
const LEAST_TIME = 1e8;

/**
 * Reads the cell of a flag: yes or no, a quantity, or the time when it happened.
 * @returns undefined if it did not happen; null if the cell cannot be read
 */
export function readAct(value: JsonValue, event: string, shownAt: number): ForeignAct | undefined | null {
  if (typeof value === 'boolean') return value ? { event, time: shownAt, quantity: 1 } : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim().toLowerCase();
  if (NO.has(text) || NONE.has(text)) return undefined;
  if (YES.has(text)) return { event, time: shownAt, quantity: 1 };
  const number = Number(text);
  if (Number.isNaN(number) || number >= LEAST_TIME) {
    const time = foreignTime(value);
    return Number.isNaN(time) ? null : { event, time, quantity: 1 };
  }
  if (number < 0) return null;
  return number === 0 ? undefined : { event, time: shownAt, quantity: Math.max(1, Math.floor(number)) };
}

/** Columns of feedback that hold the ids of the candidates that it happened to. */
export function actedIds(
  row: JsonObject,
  feedback: RankingSource['feedback'],
  time: number,
): readonly { readonly ids: ReadonlySet<string>; readonly act: ForeignAct }[] {
  return Object.entries(feedback ?? {}).flatMap(([event, path]) => {
    const value = valueAt(row, path);
    const list = isMissing(value) ? undefined : typeof value === 'number' ? [value] : listOf(value);
    if (list === undefined) return [];
    const ids = new Set(list.flatMap((id) => (idProblem(id) === undefined ? (idText(id) ?? []) : [])));
    return [{ ids, act: { event, time, quantity: 1 } }];
  });
}

/**
 * Columns of feedback that hold the positions that it happened at. A number before the first position means none.
 * @returns undefined if the row is rejected
 */
export function actedPlaces(
  row: JsonObject,
  { feedback_at, positions_from = 1 }: RankingSource,
  time: number,
  output: EventOutput,
): readonly { readonly positions: ReadonlySet<number>; readonly act: ForeignAct }[] | undefined {
  const found: { readonly positions: ReadonlySet<number>; readonly act: ForeignAct }[] = [];
  for (const [event, path] of Object.entries(feedback_at ?? {})) {
    const value = valueAt(row, path);
    if (isMissing(value)) continue;
    const numbers = (typeof value === 'number' ? [value] : (listOf(value) ?? [NaN])).map(Number);
    if (!numbers.every(Number.isInteger)) {
      output.reject('bad_flag', `${path}: ${shown(value)} is not a position`);
      return undefined;
    }
    const positions = new Set(numbers.map((number) => number - positions_from + 1));
    found.push({ positions, act: { event, time, quantity: 1 } });
  }
  return found;
}
