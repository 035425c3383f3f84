import type { ErrorCode } from '../../api/error-codes.js';
import type { EntityType, FeatureView } from '../../config/project/model.js';
import { MAX_ROWS } from '../../index/feature-store.js';
import { EVENT_TIME, rowKeys } from '../../index/row-keys.js';
import { exampleId } from './entity-operations.js';
import { ID_SCHEMA } from '../../core/ids.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation, type Schema } from './types.js';
import { exampleFields, valueSchema } from './value-schema.js';

/** The component's name of a view's rows. */
export const rowSchemaName = (view: string): string => `row_${view}`;

const WRITE_PROBLEMS = [
  ...BODY_PROBLEMS,
  'unknown_view',
  'store_unavailable',
  'store_partial_write',
] as const satisfies readonly ErrorCode[];

type EntityTypes = ReadonlyMap<string, EntityType>;

/** One row of a view: the keys of its entities, features, and when it was true. */
export function rowSchema(view: FeatureView, types: EntityTypes): Schema {
  const keys = rowKeys(view, types);
  const properties: [string, Schema][] = keys.map((key) => [key, ID_SCHEMA]);
  for (const { name, type } of view.features.values()) properties.push([name, valueSchema(type)]);
  properties.push([
    EVENT_TIME,
    {
      type: ['number', 'string'],
      description:
        'When the row was true: epoch milliseconds, or a date and time of ISO 8601; now, when absent. An older row never ' +
        'replaces a newer one. A time before `MILLRACE_OLDEST_EVENT_TIME`, or too far in the future, is refused.',
    },
  ]);
  return {
    type: 'object',
    title: view.name,
    required: keys,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

export function pushFeatures(views: readonly FeatureView[], types: EntityTypes): Operation {
  return {
    operationId: 'push_features',
    tags: ['Features'],
    summary: 'Write rows of a feature view',
    description:
      'A row replaces what the store holds of this view for its key, unless that is of a later time.',
    requestBody: rowsBody(
      views,
      ({ name }) => schemaRef(rowSchemaName(name)),
      (view) => exampleRow(view, types),
    ),
    responses: {
      200: jsonAnswer('All rows are handled.', {
        type: 'object',
        required: ['view', 'stored', 'older', 'expired'],
        properties: {
          view: { type: 'string' },
          stored: { type: 'integer' },
          older: { type: 'integer', description: 'Rows left out, since the store has one of a later time.' },
          expired: {
            type: 'integer',
            description: "Of the rows stored: those that are older than the view's ttl, and thus expired.",
          },
        },
      }),
      ...problemResponses(WRITE_PROBLEMS),
    },
  };
}

export function deleteFeatures(views: readonly FeatureView[], types: EntityTypes): Operation {
  return {
    operationId: 'delete_features',
    tags: ['Features'],
    summary: 'Delete rows of a feature view',
    description:
      'Deletes the row of each key, unless that is of a later time. Rows up to the time of the deletion cannot be stored ' +
      'again while the deletion is remembered: for the ttl of the view, or 30 days where it has none.',
    requestBody: rowsBody(
      views,
      (view) => keySchema(view, types),
      (view) => exampleKey(view, types),
    ),
    responses: {
      200: jsonAnswer('All rows are handled.', {
        type: 'object',
        required: ['view', 'deleted', 'older'],
        properties: {
          view: { type: 'string' },
          deleted: {
            type: 'integer',
            description: 'Rows that the store does not have now, there before or not.',
          },
          older: { type: 'integer', description: 'Rows kept, since the store has one of a later time.' },
        },
      }),
      ...problemResponses(WRITE_PROBLEMS),
    },
  };
}

/** `{view, rows}`, by view. */
function rowsBody(
  views: readonly FeatureView[],
  row: (view: FeatureView) => Schema,
  example: (view: FeatureView) => Schema,
): Schema {
  return jsonBody(
    views.length === 0
      ? { type: 'object' }
      : {
          oneOf: views.map((view) => ({
            title: view.name,
            type: 'object',
            required: ['view', 'rows'],
            properties: {
              view: { type: 'string', const: view.name },
              rows: { type: 'array', maxItems: MAX_ROWS, items: row(view) },
            },
          })),
        },
    Object.fromEntries(
      views.map((view) => [
        view.name,
        { summary: view.name, value: { view: view.name, rows: [example(view)] } },
      ]),
    ),
  );
}

function keySchema(view: FeatureView, types: EntityTypes): Schema {
  const keys = rowKeys(view, types);
  const properties: [string, Schema][] = keys.map((key) => [key, ID_SCHEMA]);
  properties.push([
    EVENT_TIME,
    {
      type: ['number', 'string'],
      description: 'Rows up to this time are deleted: epoch milliseconds, or ISO 8601; now, when absent.',
    },
  ]);
  return {
    type: 'object',
    required: keys,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function exampleKey(view: FeatureView, types: EntityTypes): Schema {
  return Object.fromEntries(rowKeys(view, types).map((key, i) => [key, exampleId(view.of[i] ?? '')]));
}

function exampleRow(view: FeatureView, types: EntityTypes): Schema {
  return {
    ...exampleKey(view, types),
    ...exampleFields(view.features.values()),
    [EVENT_TIME]: 1_767_225_600_000,
  };
}
