import type { FeatureView } from '../../../project/config/model/views.js';
import { feastViewName } from '../../../state/index/view-names.js';
import { noteWritten } from '../edge/audit.js';
import { typesOfFeastPush, typesOfFeastWrite } from '../entity-types-of.js';
import { withBody } from '../handle-body.js';
import { dfSchema, exampleDf } from '../openapi/feast-schemas.js';
import { writableViews } from '../openapi/row-schemas.js';
import { jsonAnswer, type Schema } from '../openapi/types.js';
import { requestState } from '../request-state.js';
import { sendText } from '../respond.js';
import type { ApiParts, PostRoute } from '../route.js';
import { feastErrorResponses, forFeast } from '../feast-client.js';

type Views = ApiParts['views'];

const pushSources = (views: Views): string[] => [
  ...new Set(writableViews(views).flatMap(({ feast }) => feast?.push ?? [])),
];

const viewsOf = (source: string, views: Views): FeatureView[] =>
  writableViews(views).filter(({ feast }) => feast?.push.includes(source));

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
    schema: ({ views, entityTypes }) => ({
      ...oneOfOrAny(
        writableViews(views).map((view) => ({
          title: view.name,
          type: 'object',
          required: ['feature_view_name', 'df'],
          properties: {
            feature_view_name: namesSchema([feastViewName(view), view.name]),
            df: dfSchema(view, entityTypes),
          },
        })),
      ),
    }),
    examples: (api) =>
      Object.fromEntries(
        writableViews(api.views).map((view) => [
          view.name,
          {
            summary: view.name,
            value: { feature_view_name: feastViewName(view), df: exampleDf(view, api.entityTypes) },
          },
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
    schema: ({ views, entityTypes }) => ({
      ...oneOfOrAny(
        pushSources(views).map((source) => ({
          title: source,
          type: 'object',
          required: ['push_source_name', 'df'],
          properties: {
            push_source_name: { type: 'string', const: source },
            df: { allOf: viewsOf(source, views).map((view) => dfSchema(view, entityTypes)) },
            to: { const: 'online', description: 'Millrace has no offline store.' },
          },
        })),
      ),
    }),
    examples: (api) =>
      Object.fromEntries(
        pushSources(api.views).map((source) => {
          const views = viewsOf(source, api.views);
          const df = Object.assign({}, ...views.map((view) => exampleDf(view, api.entityTypes))) as Schema;
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

/** A project may have no view to write. */
const oneOfOrAny = (schemas: readonly Schema[]): Schema =>
  schemas.length === 0 ? { type: 'object' } : { oneOf: schemas };

const namesSchema = (names: readonly string[]): Schema => ({ type: 'string', enum: [...new Set(names)] });
