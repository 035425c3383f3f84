import { STORE_WRITE_FAILURES, type ErrorCode } from '../../../ground/api/error-codes.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import { isElsewhere, type FeatureView } from '../../../project/config/model/views.js';
import type { ROWS_BODY } from '../../../state/index/feature-store.js';
import { EVENT_TIME, rowKeys } from '../../../state/index/row-keys.js';
import { exampleId } from './entity-schemas.js';
import { WELL_FORMED } from '../../../ground/core/ids.js';
import { BODY_PROBLEMS } from './problems.js';
import { choiceOf, ID, TIME, type Schema } from './types.js';
import { exampleFields, valueSchema } from './value-schema.js';

/** The name of the component for a view's rows. */
export const rowSchemaName = (view: string): string => `row_${view}`;

export const WRITE_PROBLEMS = [
  ...BODY_PROBLEMS,
  'unknown_view',
  ...STORE_WRITE_FAILURES,
  'store_partial_write',
] as const satisfies readonly ErrorCode[];

type EntityTypes = ReadonlyMap<string, EntityType>;

/** Features are stored as UTF-8. */
const TEXT: Schema = { type: 'string', pattern: WELL_FORMED };

/** The schema of one row of a view: the keys of its entities, its features, and its event time. */
export function rowSchema(view: FeatureView, types: EntityTypes): Schema {
  const keys = rowKeys(view, types);
  const properties: [string, Schema][] = keys.map((key) => [key, ID]);
  for (const { name, type } of view.features.values()) properties.push([name, valueSchema(type, TEXT)]);
  properties.push([
    EVENT_TIME,
    {
      ...TIME,
      description:
        'When the row was true: epoch milliseconds, or a date and time of ISO 8601; now, when absent. An older row never ' +
        'replaces a newer one. A time before `MILLRACE_OLDEST_EVENT_TIME`, or too far in the future, is refused.',
    },
  ]);
  return {
    type: 'object',
    required: keys,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

/** Returns the views that can be written. Views in Feast are read-only. */
export function writableViews(views: ReadonlyMap<string, FeatureView>): FeatureView[] {
  return [...views.values()].filter((view) => !isElsewhere(view));
}

/**
 * The schema of `{view, rows}`, by view, and its components.
 * @param family the prefix of the components: one body for each view
 */
export function rowsSchema(views: readonly FeatureView[], family: string): Schema {
  if (views.length === 0) return { type: 'object' };
  return choiceOf('view', new Map(views.map(({ name }) => [name, `${family}_${name}`])));
}

export function rowsComponents(
  views: readonly FeatureView[],
  family: string,
  body: (parts: Record<keyof typeof ROWS_BODY, Schema>) => Schema,
  row: (view: FeatureView) => Schema,
): (readonly [string, Schema])[] {
  return views.map((view) => [
    `${family}_${view.name}`,
    body({ view: { const: view.name }, rows: { items: row(view) } }),
  ]);
}

/** Builds one example per view, with one row. */
export function rowExamples(views: readonly FeatureView[], row: (view: FeatureView) => Schema): Schema {
  return Object.fromEntries(
    views.map((view) => [view.name, { summary: view.name, value: { view: view.name, rows: [row(view)] } }]),
  );
}

/** A view for the example of an answer. */
export const exampleView = (views: ReadonlyMap<string, FeatureView>): string =>
  writableViews(views)[0]?.name ?? 'product_stats';

export function exampleKey(view: FeatureView, types: EntityTypes): Schema {
  return Object.fromEntries(rowKeys(view, types).map((key, i) => [key, exampleId(view.of[i] ?? '')]));
}

export function exampleRow(view: FeatureView, types: EntityTypes): Schema {
  return {
    ...exampleKey(view, types),
    ...exampleFields(view.features.values()),
    [EVENT_TIME]: 1_767_225_600_000,
  };
}
