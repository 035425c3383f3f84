import { storedId, type IdRule } from '../../ground/core/entity-id.js';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import type { FeatureView } from '../../project/config/model/views.js';
import { nearest } from '../../ground/core/nearest.js';
import { jsonProblem } from '../../ground/core/check-json.js';
import { pointerTo, shownName, type Violations } from '../../ground/core/violations.js';
import { readEventTime, type EventTimes } from '../../ground/core/event-time.js';
import { idProblem, idText, isWellFormed } from '../../ground/core/ids.js';
import { ID, TIMESTAMP, type LaxBody } from '../../ground/core/lax-value.js';
import type { Pieces } from '../../ground/core/pieces.js';
import type { RecordLayout } from '../store/codec/record-layout.js';
import { describe, describeKind, isJsonObject, misfit, own, showOf } from '../../ground/core/value-fit.js';
import { EVENT_TIME } from './row-keys.js';

/** A checked row of a view. */
export interface FeatureRow {
  /** In the order of the view's entity types. */
  readonly ids: readonly string[];
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** The whole row as sent, features included. */
  readonly features: JsonObject;
}

/** The keys and features that the rows of a view have. */
export interface RowShape {
  readonly view: string;
  readonly keys: readonly string[];
  /** For each key, the entity type that it identifies. */
  readonly rules?: readonly (IdRule | undefined)[];
  readonly layout: RecordLayout;
  readonly features: FeatureView['features'];
}

/** When the rows arrived, and the accepted range of event times. */
export interface Arrival {
  /** Epoch milliseconds: the event time of a row that gives none. */
  readonly now: number;
  readonly eventTimes: EventTimes;
}

/** The key of a row, and its event time. */
export type RowKey = Omit<FeatureRow, 'features'>;

/**
 * Checks a row to delete: it has ids, an optional event time, and no other field.
 * @returns the row; invalid if anything was added to `violations`
 */
export function checkKey(
  row: unknown,
  shape: RowShape,
  arrival: Arrival,
  pointer: string,
  violations: Violations,
): RowKey | undefined {
  if (!isJsonObject(row)) {
    violations.add(pointer, 'wrong_type', `expected a row, found ${describe(row)}`);
    return undefined;
  }
  const ids = idsOf(row, shape, pointer, violations);
  const eventTime = checkEventTime(own(row, EVENT_TIME), arrival, pointer, violations);
  const fields = [...shape.keys, EVENT_TIME];
  for (const name of Object.keys(row)) {
    if (fields.includes(name)) continue;
    violations.add(pointerTo(pointer, name), 'unknown_field', () => {
      if (shape.layout.byName.has(name))
        return `${name}: a deletion removes the whole row; expected only ${fields.join(', ')}`;
      const guess = nearest(name, fields);
      const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
      return `view ${shape.view} has no key ${JSON.stringify(shownName(name))}${help}`;
    });
  }
  return { ids, eventTime };
}

/**
 * Checks one row: its ids, its event time, and that every other field is a feature of the view with a value that fits
 * or is null.
 * @returns the row; invalid if anything was added to `violations`
 */
export function checkRow(
  row: unknown,
  shape: RowShape,
  arrival: Arrival,
  pointer: string,
  violations: Violations,
): FeatureRow | undefined {
  if (!isJsonObject(row)) {
    violations.add(pointer, 'wrong_type', `expected a row, found ${describe(row)}`);
    return undefined;
  }
  const ids = idsOf(row, shape, pointer, violations);
  const eventTime = checkEventTime(own(row, EVENT_TIME), arrival, pointer, violations);
  for (const name of Object.keys(row)) {
    if (name === EVENT_TIME || shape.keys.includes(name)) continue;
    const field = shape.layout.byName.get(name);
    if (field === undefined) {
      violations.add(pointerTo(pointer, name), 'unknown_feature', () => {
        const guess = nearest(name, [...shape.layout.byName.keys(), ...shape.keys, EVENT_TIME]);
        const help = guess === undefined ? '' : `; did you mean "${guess}"?`;
        return `view ${shape.view} has no feature ${JSON.stringify(shownName(name))}${help}`;
      });
      continue;
    }
    const value = row[name] ?? null;
    const problem =
      jsonProblem(value) ??
      misfit(value, field.type, showOf(shape.features.get(name))) ??
      illFormed(value, field.type);
    if (problem !== undefined) {
      violations.add(pointerTo(pointer, name, ...problem.path), problem.code, `${name}: ${problem.detail}`);
    }
  }
  return { ids, eventTime, features: row };
}

/** Converts the values of a row. */
export function laxRow(row: unknown, { keys, features }: RowShape, lax: LaxBody): Pieces<unknown> {
  const typeOf = (name: string): ValueType | undefined =>
    keys.includes(name) ? ID : name === EVENT_TIME ? TIMESTAMP : features.get(name)?.type;
  return lax.object(row as JsonValue, typeOf, '');
}

function idsOf(
  row: JsonObject,
  { keys, rules }: RowShape,
  pointer: string,
  violations: Violations,
): string[] {
  return keys.map((key, i) => storedId(rules?.[i], checkId(row, key, pointer, violations)));
}

function checkId(row: JsonObject, key: string, pointer: string, violations: Violations): string {
  const id = own(row, key);
  if (id === undefined) {
    violations.add(pointer, 'missing_id', `the row has no ${key}`);
    return '';
  }
  const problem = idProblem(id);
  if (problem === undefined) return idText(id) ?? '';
  violations.add(pointerTo(pointer, key), 'invalid_id', `${key}: ${problem}, found ${describeKind(id)}`);
  return '';
}

function checkEventTime(
  value: JsonValue | undefined,
  { now, eventTimes }: Arrival,
  pointer: string,
  violations: Violations,
): number {
  if (value === undefined) return now;
  const time = readEventTime(value, EVENT_TIME, now, eventTimes);
  if (typeof time === 'number') return time;
  violations.add(pointerTo(pointer, EVENT_TIME), time.code, time.detail);
  return now;
}

/** Features are stored as UTF-8, which cannot hold a lone surrogate. */
function illFormed(
  value: JsonValue,
  type: ValueType,
):
  | { readonly path: readonly (string | number)[]; readonly code: string; readonly detail: string }
  | undefined {
  const texts =
    type.kind === 'string'
      ? [value]
      : type.kind === 'list' && type.of.kind !== 'float'
        ? (value as readonly JsonValue[] | null)
        : [];
  const at = texts?.findIndex((text) => typeof text === 'string' && !isWellFormed(text)) ?? -1;
  if (at < 0) return undefined;
  return {
    path: type.kind === 'list' ? [at] : [],
    code: 'ill_formed_text',
    detail: 'expected well-formed Unicode, found a lone surrogate',
  };
}
