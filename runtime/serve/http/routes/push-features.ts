import { PUSH_BODY, type PushAnswer } from '../../../state/index/feature-store.js';
import { answerWrite } from '../handle-body.js';
import { typesOfView } from '../entity-types-of.js';
import { problemResponses } from '../openapi/problems.js';
import {
  exampleRow,
  exampleView,
  rowExamples,
  rowSchema,
  rowSchemaName,
  rowsComponents,
  rowsSchema,
  writableViews,
  WRITE_PROBLEMS,
} from '../openapi/row-schemas.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, objectOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

const INCREMENT: Schema = {
  description:
    'Adds the numbers of each row to those of the stored row, which keeps its other features. The features of the rows are numbers ' +
    'then, at least one in each row. It is atomic for each row, but not idempotent: a body that is sent again adds again.',
};

export const pushFeatures: PostRoute = {
  path: '/api/v1/features/push',
  scope: 'features',
  method: 'POST',
  class: 'upload',
  writes: true,
  body: {
    limit: 'uploadBytes',
    entityTypes: typesOfView,
    schema: ({ views }) => rowsSchema(writableViews(views), 'push'),
    examples: ({ views, entityTypes }) =>
      rowExamples(writableViews(views), (view) => exampleRow(view, entityTypes)),
  },
  handler: ({ features }) =>
    answerWrite((body, span, _who, coerced) => features.push(body, span, coerced), 'rows'),
  operation: ({ views }) => ({
    operationId: 'push_features',
    tags: ['Features'],
    summary: 'Write rows of a feature view',
    description:
      'A row replaces what the store holds of this view for its key, unless that is of a later time. With `increment`, its numbers are added.',
    responses: {
      200: jsonAnswer(
        'All rows are handled.',
        objectOf<PushAnswer>({
          view: { type: 'string' },
          stored: { type: 'integer' },
          older: { type: 'integer', description: 'Rows left out, since the store has one of a later time.' },
          expired: {
            type: 'integer',
            description: "Of the rows stored: those that are older than the view's ttl, and thus expired.",
          },
        }),
        { view: exampleView(views), stored: 1, older: 0, expired: 0 },
      ),
      ...problemResponses(WRITE_PROBLEMS),
    },
  }),
  schemas: ({ views, entityTypes }) => [
    ...rowsComponents(
      writableViews(views),
      'push',
      (parts) => bodySchema(PUSH_BODY, { ...parts, increment: INCREMENT }),
      ({ name }) => schemaRef(rowSchemaName(name)),
    ),
    ...writableViews(views).map((view) => [rowSchemaName(view.name), rowSchema(view, entityTypes)] as const),
  ],
};
