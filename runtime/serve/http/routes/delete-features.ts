import type { EntityType } from '../../../project/config/model/entities.js';
import type { FeatureView } from '../../../project/config/model/views.js';
import { ROWS_BODY, type DeleteAnswer } from '../../../state/index/feature-store.js';
import { EVENT_TIME, rowKeys } from '../../../state/index/row-keys.js';
import { answerWrite } from '../handle-body.js';
import { typesOfView } from '../entity-types-of.js';
import { problemResponses } from '../openapi/problems.js';
import {
  exampleKey,
  exampleView,
  rowExamples,
  rowsComponents,
  rowsSchema,
  writableViews,
  WRITE_PROBLEMS,
} from '../openapi/row-schemas.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { ID, jsonAnswer, objectOf, TIME, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

export const deleteFeatures: PostRoute = {
  path: '/api/v1/features/delete',
  scope: 'features',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'otherBytes',
    entityTypes: typesOfView,
    schema: ({ views }) => rowsSchema(writableViews(views), 'delete'),
    examples: ({ views, entityTypes }) =>
      rowExamples(writableViews(views), (view) => exampleKey(view, entityTypes)),
  },
  handler: ({ features }) => answerWrite((body, span) => features.remove(body, span), 'rows'),
  operation: ({ views }) => ({
    operationId: 'delete_features',
    tags: ['Features'],
    summary: 'Delete rows of a feature view',
    description:
      'Deletes the row of each key, unless that is of a later time. Rows up to the time of the deletion cannot be stored ' +
      'again while the deletion is remembered: for the ttl of the view, or 30 days where it has none.',
    responses: {
      200: jsonAnswer(
        'All rows are handled.',
        objectOf<DeleteAnswer>({
          view: { type: 'string' },
          deleted: {
            type: 'integer',
            description: 'Rows that the store does not have now, there before or not.',
          },
          older: { type: 'integer', description: 'Rows kept, since the store has one of a later time.' },
        }),
        { view: exampleView(views), deleted: 1, older: 0 },
      ),
      ...problemResponses(WRITE_PROBLEMS),
    },
  }),
  schemas: ({ views, entityTypes }) =>
    rowsComponents(
      writableViews(views),
      'delete',
      (parts) => bodySchema(ROWS_BODY, parts),
      (view) => keySchema(view, entityTypes),
    ),
};

function keySchema(view: FeatureView, types: ReadonlyMap<string, EntityType>): Schema {
  const keys = rowKeys(view, types);
  const properties: [string, Schema][] = keys.map((key) => [key, ID]);
  properties.push([
    EVENT_TIME,
    {
      ...TIME,
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
