import type { EntityType, FeatureView } from '../../config/model.js';
import { exampleId } from './entity-operations.js';
import { BODY_PROBLEMS, problemResponses } from './problems.js';
import { jsonAnswer, jsonBody, schemaRef, type Operation, type Schema } from './types.js';
import { exampleFields, ID_SCHEMA, valueSchema } from './value-schema.js';

/** The component's name of a view's rows. */
export const rowSchemaName = (view: string): string => `row_${view}`;

type EntityTypes = ReadonlyMap<string, EntityType>;

/** One row of a view: the keys of its entities, features, and when it was true. */
export function rowSchema(view: FeatureView, types: EntityTypes): Schema {
  const keys = view.of.map((type) => keyOf(type, types));
  const properties: [string, Schema][] = keys.map((key) => [key, ID_SCHEMA]);
  for (const { name, type } of view.features.values()) properties.push([name, valueSchema(type)]);
  properties.push([
    'event_time',
    {
      type: ['number', 'string'],
      description:
        'When the row was true: epoch milliseconds, or a date and time of ISO 8601; now, when absent. An older row never ' +
        'replaces a newer one.',
    },
  ]);
  return { type: 'object', title: view.name, required: keys, properties: Object.fromEntries(properties) };
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
                view: { const: name },
                rows: { type: 'array', items: schemaRef(rowSchemaName(name)) },
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
      200: jsonAnswer('How many rows were stored, and how many were not since the store held newer ones.', {
        type: 'object',
        required: ['view'],
        properties: { view: { type: 'string' } },
        additionalProperties: { type: 'integer' },
      }),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_view', 'store_unavailable', 'store_partial_write']),
    },
  };
}

function exampleRow(view: FeatureView, types: EntityTypes): Schema {
  return {
    ...Object.fromEntries(view.of.map((type) => [keyOf(type, types), exampleId(type)])),
    ...exampleFields(view.features.values()),
    event_time: 1_767_225_600_000,
  };
}

function keyOf(type: string, types: EntityTypes): string {
  return types.get(type)?.key ?? `${type}_id`;
}
