import type { EntityType } from '../../../project/config/model/entities.js';
import type { FeatureView } from '../../../project/config/model/views.js';
import { VIEW_SCAN_BODY } from '../../../state/index/export/feature-scan.js';
import { answerRead } from '../handle-body.js';
import { typesOfView } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { exampleRow, writableViews } from '../openapi/row-schemas.js';
import { PAGE_PARTS, scanAnswer } from '../openapi/scan-schemas.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, oneOf, schemaRef, type Schema } from '../openapi/types.js';
import type { PostRoute } from '../route.js';

export const scanFeatures: PostRoute = {
  path: '/api/v1/features/scan',
  scope: 'features',
  method: 'POST',
  class: 'upload',
  audience: 'operators',
  body: {
    limit: 'otherBytes',
    entityTypes: typesOfView,
    schema: () => schemaRef('scan_of_features'),
    examples: ({ views }) =>
      Object.fromEntries(
        writableViews(views).map(({ name }) => [name, { summary: name, value: { view: name } }]),
      ),
  },
  handler: ({ scans }) => answerRead((body, span) => scans.features(body, span)),
  operation: ({ views, entityTypes }) => ({
    operationId: 'scan_features',
    tags: ['Features'],
    summary: 'List the rows of a feature view, page by page',
    description:
      'A row that exists during the whole scan is listed at least once. One that is written or deleted meanwhile may be ' +
      'listed or not. Deleted rows are not listed; expired rows are.',
    responses: {
      200: jsonAnswer(
        'A page of rows, each with its keys, its features and its event time, as a push takes them.',
        scanAnswer(
          'view',
          'rows',
          'Rows with features that the view does not declare, or that do not fit it; the page leaves those out.',
        ),
        exampleScan(writableViews(views)[0], entityTypes),
      ),
      ...problemResponses([...BODY_PROBLEMS, 'unknown_view', 'store_unavailable']),
    },
  }),
  schemas: ({ views }) => [
    [
      'scan_of_features',
      bodySchema(VIEW_SCAN_BODY, {
        view: oneOf(writableViews(views).map(({ name }) => name)),
        ...PAGE_PARTS,
      }),
    ],
  ],
};

function exampleScan(
  view: FeatureView | undefined,
  types: ReadonlyMap<string, EntityType>,
): Schema | undefined {
  return (
    view && { view: view.name, rows: [exampleRow(view, types)], unreadable: [], changed: 0, cursor: null }
  );
}
