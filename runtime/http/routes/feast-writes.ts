import type { FeatureView } from '../../config/project/model.js';
import { MAX_WRITTEN_ROWS } from '../../index/feast-writes.js';
import { feastFeatureName, feastViewName, joinKeyName } from '../../index/view-names.js';
import { rowKeys } from '../../index/row-keys.js';
import { noteWritten } from '../edge/audit.js';
import { typesOfFeastPush, typesOfFeastWrite } from '../entity-types-of.js';
import { withBody } from '../handle-body.js';
import { exampleId } from '../openapi/entity-schemas.js';
import { exampleFields } from '../openapi/value-schema.js';
import { writableViews } from '../openapi/row-schemas.js';
import { jsonAnswer, type Schema } from '../openapi/types.js';
import { requestState } from '../request-state.js';
import { sendText } from '../respond.js';
import type { ApiParts, PostRoute } from '../route.js';
import { feastErrorResponses, forFeast } from './feast-client.js';

type Views = ApiParts['views'];

const DF: Schema = {
  type: 'object',
  description:
    'A list for each column: the join keys, the features, and `event_timestamp` as ISO 8601 text (UTC without an offset). Other ' +
    'columns are ignored.',
  additionalProperties: { type: 'array', maxItems: MAX_WRITTEN_ROWS },
};

const pushSources = (views: Views): string[] => [
  ...new Set(writableViews(views).flatMap(({ feast }) => feast?.push ?? [])),
];

/** What both routes have in common. Feast answers a write without a body, and a push too. */
const common = {
  scope: 'features',
  method: 'POST',
  class: 'upload',
  writes: true,
} as const;

export const feastWrite: PostRoute = {
  ...common,
  path: '/write-to-online-store',
  body: {
    limit: 'uploadBytes',
    entityTypes: typesOfFeastWrite,
    schema: ({ views }) => ({
      type: 'object',
      required: ['feature_view_name', 'df'],
      properties: {
        feature_view_name: namesSchema(
          writableViews(views).flatMap((view) => [view.name, feastViewName(view)]),
        ),
        df: DF,
      },
    }),
    examples: (api) =>
      Object.fromEntries(
        writableViews(api.views).map((view) => [
          view.name,
          { summary: view.name, value: { feature_view_name: feastViewName(view), df: exampleDf(view, api) } },
        ]),
      ),
  },
  handler: ({ feastWrites }) =>
    forFeast(async (req, res) => {
      const { span } = requestState(res);
      noteWritten(res, await withBody(req, (body) => feastWrites.write(body, span)));
      sendText(res, 200, 'application/json', 'null');
    }),
  operation: () => ({
    operationId: 'feast_write_to_online_store',
    tags: ['Features'],
    summary: "Write rows as the client of Feast's remote online store does",
    description:
      'A row with an older event time than the stored one is not stored, as with `/api/v1/features/push`.',
    responses: { 200: jsonAnswer('All rows are handled.', { type: 'null' }), ...feastErrorResponses() },
  }),
};

export const feastPush: PostRoute = {
  ...common,
  path: '/push',
  body: {
    limit: 'uploadBytes',
    entityTypes: typesOfFeastPush,
    schema: ({ views }) => ({
      type: 'object',
      required: ['push_source_name', 'df'],
      properties: {
        push_source_name: namesSchema(pushSources(views)),
        df: DF,
        to: { const: 'online', description: 'Millrace has no offline store.' },
      },
    }),
    examples: (api) =>
      Object.fromEntries(
        pushSources(api.views).map((source) => {
          const views = writableViews(api.views).filter(({ feast }) => feast?.push.includes(source));
          const df = Object.assign({}, ...views.map((view) => exampleDf(view, api))) as Schema;
          return [source, { summary: source, value: { push_source_name: source, df } }];
        }),
      ),
  },
  handler: ({ feastWrites }) =>
    forFeast(async (req, res) => {
      const { span } = requestState(res);
      noteWritten(res, await withBody(req, (body) => feastWrites.push(body, span)));
      res.statusCode = 200;
      res.end();
    }),
  operation: () => ({
    operationId: 'feast_push',
    tags: ['Features'],
    summary: 'Write rows to all views of a push source of Feast',
    description: 'A view names its push sources under `feast: push:`.',
    responses: {
      200: { description: 'All rows are handled. The answer has no body.' },
      ...feastErrorResponses(),
    },
  }),
};

const namesSchema = (names: readonly string[]): Schema => ({
  type: 'string',
  ...(names.length === 0 ? {} : { enum: [...new Set(names)] }),
});

function exampleDf(view: FeatureView, { entityTypes }: ApiParts): Schema {
  const keys = rowKeys(view, entityTypes).map((key, i) => [
    joinKeyName(view, i) ?? key,
    [exampleId(view.of[i] ?? '')],
  ]);
  const features = Object.entries(exampleFields(view.features.values())).map(([name, value]) => [
    feastFeatureName(view, name),
    [value],
  ]);
  return {
    ...Object.fromEntries([...keys, ...features]),
    event_timestamp: ['2026-01-01T00:00:00'],
  } as Schema;
}
