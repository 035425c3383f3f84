import { MillraceError, type Violation } from '../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { FeatureView } from '../../project/config/model/views.js';
import {
  objectField,
  optional,
  readBody,
  requiredOf,
  textField,
  type BodyFields,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import type { Coerced } from '../../ground/core/lax-value.js';
import { inBackground } from '../../ground/core/background.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { pointerTo, shownName, Violations } from '../../ground/core/violations.js';
import { describe, describeKind, own } from '../../ground/core/value-fit.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import type { FeatureStore } from './feature-store.js';
import { EVENT_TIME, rowKeys } from './row-keys.js';
import { feastFeatureName, joinKeyName, viewNames } from './view-names.js';

/** The most rows of one request. */
export const MAX_WRITTEN_ROWS = 100_000;

/** The column of the event time that Feast's client sends. */
const FEAST_TIME = 'event_timestamp';

const WRITE_NAME = { feature_view_name: textField() };
const PUSH_NAME = { push_source_name: textField() };
/** The columns of the views make its schema. */
const DF = { df: { ...objectField('lists by column'), schema: {} } };
const PUSH_TO = {
  to: optional<'online'>({
    schema: { const: 'online' },
    fits: (value) => value === 'online',
    fault: (value) => ({
      code: 'wrong_type',
      detail: `expected "online", found ${describe(value)}; Millrace has no offline store, so push there by Feast`,
    }),
  }),
};
export const WRITE_BODY = { ...WRITE_NAME, ...DF };
export const PUSH_BODY = { ...PUSH_NAME, ...DF, ...PUSH_TO };

/** Rows to build before other work may run. */
const PIECE = 64;

export interface FeastWritesParts {
  readonly features: Pick<FeatureStore, 'pushRows'>;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly types: ReadonlyMap<string, EntityType>;
}

/** The counts of a write; Feast's client ignores them. */
export interface WrittenCounts {
  readonly view: string;
  readonly stored: number;
  readonly older: number;
}

/** A column of a request: its name there, and the field of a row of the view. */
interface Column {
  readonly sent: string;
  readonly field: string;
  readonly values: readonly JsonValue[];
  readonly convert: (value: JsonValue) => JsonValue;
}

/**
 * Writes rows that clients of Feast send as columns (`df`), in the forms of the feature server of Feast 0.67. Columns
 * that the view does not have are ignored, as in Feast; all keys, all features and `event_timestamp` are required.
 */
export class FeastWrites {
  readonly #parts: FeastWritesParts;

  constructor(parts: FeastWritesParts) {
    this.#parts = parts;
  }

  /**
   * Body `{feature_view_name, df}` of POST /write-to-online-store.
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, store_partial_write
   */
  async write(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<WrittenCounts> {
    const { feature_view_name: name } = readPart(body, WRITE_NAME);
    return this.#store([viewNames(this.#parts.views).view(name, 'feature_view_name')], body, span, coerced);
  }

  /**
   * Body `{push_source_name, df, to?}` of POST /push. It writes to all views of the push source.
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, store_partial_write
   */
  async push(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<WrittenCounts> {
    const { push_source_name: name } = readPart(body, PUSH_NAME);
    const views = viewNames(this.#parts.views).pushed(name);
    readPart(body, PUSH_TO);
    return this.#store(views, body, span, coerced);
  }

  /** Checks the columns for all views before the first row is stored. */
  async #store(
    views: readonly FeatureView[],
    body: unknown,
    span: TraceSpan | undefined,
    coerced: Coerced | undefined,
  ): Promise<WrittenCounts> {
    const { df } = readPart(body, DF);
    const violations = new Violations();
    const tables = views.map((view) => {
      const columns = columnsOf(view, this.#parts.types, df, violations);
      return { view, columns };
    });
    violations.throwIfAny('The body');
    let counts: WrittenCounts = { view: views.map(({ name }) => name).join(','), stored: 0, older: 0 };
    for (const { view, columns } of tables) {
      const rows = await inBackground(rowsOf(columns));
      const { stored, older } = await this.#pushRows(view, columns, rows, span, coerced);
      counts = { ...counts, stored: counts.stored + stored, older: counts.older + older };
    }
    return counts;
  }

  async #pushRows(
    view: FeatureView,
    columns: readonly Column[],
    rows: readonly JsonObject[],
    span: TraceSpan | undefined,
    coerced: Coerced | undefined,
  ): Promise<{ readonly stored: number; readonly older: number }> {
    try {
      return await this.#parts.features.pushRows(view.name, rows, span, coerced);
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'invalid_body') throw error;
      throw inColumns(error, columns);
    }
  }
}

/** Reads one part of a body. Reading stops at the first part with faults, so an error lists the faults of one part. */
function readPart<F extends BodyFields>(body: unknown, fields: F): BodyOf<F> {
  return readBody(body, fields, 'The body', `an object with ${[...requiredOf(fields), 'df'].join(' and ')}`);
}

/** The columns of `df` that hold rows of a view. */
function columnsOf(
  view: FeatureView,
  types: ReadonlyMap<string, EntityType>,
  df: JsonObject,
  violations: Violations,
): readonly Column[] {
  const columns: Column[] = [];
  const take = (
    field: string,
    sent: string,
    what: string,
    convert: Column['convert'] = (value) => value,
  ): void => {
    const values = own(df, sent);
    if (values === undefined) violations.add('/df', 'missing_field', `df has no column ${sent}, ${what}`);
    else if (!Array.isArray(values))
      violations.add(
        pointerTo('/df', sent),
        'wrong_type',
        `${shownName(sent)}: expected a list with one value for each row, found ${describeKind(values)}`,
      );
    else columns.push({ sent, field, values: values as readonly JsonValue[], convert });
  };
  rowKeys(view, types).forEach((key, i) => {
    take(key, joinKeyName(view, i) ?? key, `the key of view ${view.name}`);
  });
  for (const { name, type } of view.features.values()) {
    const holdsJson = view.feast?.json.has(name) === true;
    take(
      name,
      feastFeatureName(view, name),
      `a feature of view ${view.name}`,
      holdsJson ? asJsonText(type.kind === 'list') : type.kind === 'timestamp' ? asMilliseconds : undefined,
    );
  }
  take(EVENT_TIME, FEAST_TIME, 'the event time of each row');
  // A number has no unit: Feast sends seconds, pandas milliseconds or nanoseconds.
  const numeric = columns.find(({ field }) => field === EVENT_TIME)?.values.findIndex(isNumber) ?? -1;
  if (numeric >= 0)
    violations.add(
      pointerTo('/df', FEAST_TIME, numeric),
      'wrong_type',
      `${FEAST_TIME}: expected ISO 8601 text such as 2026-01-31T09:30:00, found a number`,
    );
  const [first, ...others] = columns;
  for (const { sent, values } of others)
    if (first !== undefined && values.length !== first.values.length)
      violations.add(
        pointerTo('/df', sent),
        'wrong_type',
        `${shownName(sent)} has ${values.length} values, but ${shownName(first.sent)} has ${first.values.length}; each column needs one value for each row`,
      );
  if (first !== undefined && first.values.length > MAX_WRITTEN_ROWS)
    violations.add(
      '/df',
      'too_many',
      `df: at most ${MAX_WRITTEN_ROWS} rows, found ${first.values.length}; in Feast, set online_write_batch_size`,
    );
  return columns;
}

const isNumber = (value: JsonValue): boolean => typeof value === 'number';

/** Feast sends times as seconds. */
const asMilliseconds = (value: JsonValue): JsonValue => (typeof value === 'number' ? value * 1000 : value);

/**
 * Values as JSON text. Feast's client sends maps, and JSON, as text already. A value with a rounded integer stays as it is, so
 * that the check of the row refuses it: it expects a text.
 */
function asJsonText(isList: boolean): (value: JsonValue) => JsonValue {
  const text = (value: JsonValue): JsonValue =>
    typeof value === 'string' || isRounded(value) ? value : JSON.stringify(value);
  return (value) => {
    if (value === null) return null;
    return isList ? (Array.isArray(value) ? (value as readonly JsonValue[]).map(text) : value) : text(value);
  };
}

/** Whether it holds what may be a 64-bit integer that JSON.parse rounded. A client sends such an integer as text. */
function isRounded(value: JsonValue): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) <= 2 ** 63;
  return typeof value === 'object' && value !== null && Object.values(value).some(isRounded);
}

function* rowsOf(columns: readonly Column[]): Pieces<JsonObject[]> {
  const rows: JsonObject[] = [];
  const count = columns[0]?.values.length ?? 0;
  for (let i = 0; i < count; i++) {
    rows.push(
      Object.fromEntries(columns.map(({ field, values, convert }) => [field, convert(values[i] ?? null)])),
    );
    if (i % PIECE === PIECE - 1) yield;
  }
  return rows;
}

/** The same error with its places in `df`: `/rows/3/trips` is `/df/trips/3`. */
function inColumns(error: MillraceError, columns: readonly Column[]): MillraceError {
  const sentAs = new Map(columns.map(({ field, sent }) => [field, sent]));
  const place = (text: string): string =>
    text.replace(/\/rows\/(\d+)(?:\/([^/\s:]+))?/, (_, row: string, field: string | undefined) =>
      field === undefined ? `/df (row ${row})` : `/df/${sentAs.get(field) ?? field}/${row}`,
    );
  return new MillraceError('invalid_body', place(error.message), {
    cause: error,
    violations: error.violations.map((one): Violation => ({ ...one, pointer: place(one.pointer) })),
    extensions: error.extensions,
  });
}
