import type { FeatureView } from '../../../project/config/model/views.js';
import { PUSH_BODY, WRITE_BODY } from '../../../state/index/feast-writes.js';
import { feastViewName } from '../../../state/index/view-names.js';
import { typesOfFeastPush, typesOfFeastWrite } from '../entity-types-of.js';
import { written } from '../handle-body.js';
import { dfSchema, exampleDf } from '../openapi/feast-schemas.js';
import { writableViews } from '../openapi/row-schemas.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, oneOf, type Schema } from '../openapi/types.js';
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
          ...bodySchema(WRITE_BODY, {
            feature_view_name: oneOf([...new Set([feastViewName(view), view.name])]),
            df: dfSchema(view, entityTypes),
          }),
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
    forFeast(async (exchange) => {
      await written(exchange, (body, span, _who, coerced) => feastWrites.write(body, span, coerced));
      sendText(exchange.res, 200, 'application/json', 'null');
    }),
  operation: () => ({
    operationId: 'feast_write_to_online_store',
    tags: ['Features'],
    summary: "Write rows as the client of Feast's remote online store does",
    description:
      'A row with an older event time than the stored one is not stored, as with `/api/v1/features/push`.',
    // Generators of clients have no class for the type `null`.
    responses: {
      200: jsonAnswer('All rows are handled.', { description: 'Null.' }),
      ...feastErrorResponses(),
    },
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
          ...bodySchema(PUSH_BODY, {
            push_source_name: { const: source },
            df: { allOf: viewsOf(source, views).map((view) => dfSchema(view, entityTypes)) },
            to: { description: 'Millrace has no offline store.' },
          }),
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
    forFeast(async (exchange) => {
      await written(exchange, (body, span, _who, coerced) => feastWrites.push(body, span, coerced));
      exchange.res.statusCode = 200;
      exchange.res.end();
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
