import type { JsonObject, JsonValue, ValueType } from '../api/types.js';
import { nearest } from '../api/nearest.js';
import { jsonProblem } from '../entities/check-json.js';
import { pointerTo, shownName, type Violations } from '../api/violations.js';
import { idProblem, isWellFormed } from '../store/keys.js';
import type { Layout } from '../store/layout.js';
import { timestampOf } from '../store/timestamp.js';
import { describe, isJsonObject, misfit, own } from '../store/value-fit.js';
import { EVENT_TIME } from './row-keys.js';

/** A row of a view, checked. */
export interface FeatureRow {
  /** In the order of the view's entities. */
  readonly ids: readonly string[];
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** The row as sent; the features are among its fields. */
  readonly features: JsonObject;
}

/** What the rows of a view look like. */
export interface RowShape {
  readonly view: string;
  readonly keys: readonly string[];
  readonly layout: Layout;
}

/**
 * Checks one row: its ids, its event time, and that every other field is a feature of the view that fits or is null.
 * @param now the event time of a row that gives none
 * @returns the row; of no use if anything was added to `violations`
 */
export function checkRow(
  row: unknown,
  shape: RowShape,
  now: number,
  pointer: string,
  violations: Violations,
): FeatureRow | undefined {
  if (!isJsonObject(row)) {
    violations.add(pointer, 'wrong_type', `expected a row, found ${describe(row)}`);
    return undefined;
  }
  const ids = shape.keys.map((key) => checkId(row, key, pointer, violations));
  const eventTime = checkEventTime(own(row, EVENT_TIME), now, pointer, violations);
  for (const name of Object.keys(row)) {
    if (name === EVENT_TIME || shape.keys.includes(name)) continue;
    const field = shape.layout.byName.get(name);
    if (field === undefined) {
      const guess = nearest(name, [...shape.layout.byName.keys(), ...shape.keys, EVENT_TIME]);
      const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
      const detail = `view ${shape.view} has no feature ${JSON.stringify(shownName(name))}${help}`;
      violations.add(pointerTo(pointer, name), 'unknown_feature', detail);
      continue;
    }
    const value = row[name] ?? null;
    const problem = jsonProblem(value) ?? misfit(value, field.type) ?? illFormed(value, field.type);
    if (problem !== undefined) {
      violations.add(pointerTo(pointer, name, ...problem.path), problem.code, `${name}: ${problem.detail}`);
    }
  }
  return { ids, eventTime, features: row };
}

function checkId(row: JsonObject, key: string, pointer: string, violations: Violations): string {
  const id = own(row, key);
  if (id === undefined) {
    violations.add(pointer, 'missing_id', `the row has no ${key}`);
    return '';
  }
  const problem = idProblem(id);
  if (problem === undefined) return id as string;
  violations.add(pointerTo(pointer, key), 'invalid_id', `${key}: ${problem}, found ${describe(id)}`);
  return '';
}

function checkEventTime(
  value: JsonValue | undefined,
  now: number,
  pointer: string,
  violations: Violations,
): number {
  if (value === undefined) return now;
  const time = timestampOf(value);
  if (!Number.isNaN(time)) return time;
  violations.add(
    pointerTo(pointer, EVENT_TIME),
    'wrong_type',
    `${EVENT_TIME}: expected epoch milliseconds, or ISO 8601 text such as 2026-01-31T09:30:00Z, found ${describe(value)}`,
  );
  return now;
}

/** Features are kept as UTF-8, which has no half surrogate pairs. */
function illFormed(
  value: JsonValue,
  type: ValueType,
):
  | { readonly path: readonly (string | number)[]; readonly code: string; readonly detail: string }
  | undefined {
  const texts =
    type.kind === 'string' ? [value] : type.kind === 'list' ? (value as readonly JsonValue[] | null) : [];
  const at = texts?.findIndex((text) => typeof text === 'string' && !isWellFormed(text)) ?? -1;
  if (at < 0) return undefined;
  return {
    path: type.kind === 'list' ? [at] : [],
    code: 'ill_formed_text',
    detail: 'expected well-formed Unicode, found half a surrogate pair',
  };
}
