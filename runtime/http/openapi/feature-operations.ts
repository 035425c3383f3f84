import type { EntityType, FeatureView } from '../../config/model.js';
import { MAX_ROWS } from '../../features/feature-store.js';
import { EVENT_TIME, rowKeys } from '../../features/row-keys.js';
import { exampleId } from './entity-operations.js';
import { ID_SCHEMA } from '../../store/keys.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation, type Schema } from './types.js';
import { exampleFields, valueSchema } from './value-schema.js';

/** The component's name of a view's rows. */
export const rowSchemaName = (view: string): string => `row_${view}`;

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
        'replaces a newer one.',
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
    requestBody: jsonBody(
      views.length === 0
        ? { type: 'object' }
        : {
            oneOf: views.map(({ name }) => ({
              title: name,
              type: 'object',
              required: ['view', 'rows'],
              properties: {
                view: { type: 'string', const: name },
                rows: { type: 'array', maxItems: MAX_ROWS, items: schemaRef(rowSchemaName(name)) },
              },
            })),
          },
      Object.fromEntries(
        views.map((view) => [
          view.name,
          { summary: view.name, value: { view: view.name, rows: [exampleRow(view, types)] } },
        ]),
      ),
    ),
    responses: {
      200: jsonAnswer('All rows are handled.', {
        type: 'object',
        required: ['view', 'stored', 'older'],
        properties: {
          view: { type: 'string' },
          stored: { type: 'integer' },
          older: { type: 'integer', description: 'Rows left out, since the store has one of a later time.' },
        },
      }),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_view', 'store_unavailable', 'store_partial_write']),
    },
  };
}

function exampleRow(view: FeatureView, types: EntityTypes): Schema {
  const ids = rowKeys(view, types).map((key, i): [string, string] => [key, exampleId(view.of[i] ?? '')]);
  return {
    ...Object.fromEntries(ids),
    ...exampleFields(view.features.values()),
    [EVENT_TIME]: 1_767_225_600_000,
  };
}
