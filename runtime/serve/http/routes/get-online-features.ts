import { STORE_READ_FAILURES } from '../../../ground/api/error-codes.js';
import { FEAST_STATUSES } from '../../../ground/api/status.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { FeatureView } from '../../../project/config/model/views.js';
import { ID_SCHEMA } from '../../../ground/core/ids.js';
import type { OnlineAnswer } from '../../../state/index/online-answer.js';
import { MAX_ONLINE_ROWS, ONLINE_BODY, SERVICE_BODY } from '../../../state/index/online-request.js';
import { rowKeys } from '../../../state/index/row-keys.js';
import { exampleId } from '../openapi/entity-schemas.js';
import { typesOfFeatures } from '../entity-types-of.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { bodySchema } from '../../../ground/core/body-fields.js';
import { jsonAnswer, objectOf, oneOf, schemaRef, type Schema } from '../openapi/types.js';
import { feastErrorResponses, forFeast } from '../feast-client.js';
import { withBody } from '../handle-body.js';
import { feastFeatureName, feastViewName } from '../../../state/index/view-names.js';
import { sendLargeJson } from '../respond.js';
import type { PostRoute } from '../route.js';
import { exampleFields } from '../openapi/value-schema.js';

type EntityTypes = ReadonlyMap<string, EntityType>;

const onlineSchema = (views: ReadonlyMap<string, FeatureView>, names: string): Schema =>
  bodySchema(ONLINE_BODY, {
    features: { uniqueItems: true, items: nameSchema(names, views) },
    entities: ENTITIES,
    full_feature_names: FULL_NAMES,
  });

/** The names are a component: generators of clients write code that does not compile for an unnamed `enum` in a set. */
const nameSchema = (component: string, views: ReadonlyMap<string, FeatureView>): Schema =>
  views.size === 0 ? { type: 'string' } : schemaRef(component);

const namesSchema = (names: readonly string[]): Schema => ({
  type: 'string',
  description: '`view:feature`.',
  enum: names,
});

const ENTITIES: Schema = {
  description:
    "A list of ids by the key of each entity type that the views are of (or by Feast's join key); all of one length.",
  additionalProperties: {
    type: 'array',
    maxItems: MAX_ONLINE_ROWS,
    items: { ...ID_SCHEMA, minLength: 0 },
  },
};

const FULL_NAMES: Schema = { description: 'Names in the answer are `view__feature` rather than `feature`.' };

const featureNames = (views: ReadonlyMap<string, FeatureView>): string[] =>
  [...views.values()].flatMap(({ name, features }) =>
    Array.from(features.keys(), (feature) => `${name}:${feature}`),
  );

/** The names that Feast's clients use. */
const feastNames = (views: ReadonlyMap<string, FeatureView>): string[] =>
  [...views.values()].flatMap((view) =>
    Array.from(
      view.features.keys(),
      (feature) => `${feastViewName(view)}:${feastFeatureName(view, feature)}`,
    ),
  );

const serviceNames = (views: ReadonlyMap<string, FeatureView>): string[] => [
  ...new Set([...views.values()].flatMap(({ feast }) => [...(feast?.services.keys() ?? [])])),
];

const feastBodySchema = (views: ReadonlyMap<string, FeatureView>): Schema => {
  const services = serviceNames(views);
  const byFeature = onlineSchema(views, 'feast_feature_name');
  if (services.length === 0) return byFeature;
  const byService = bodySchema(SERVICE_BODY, {
    feature_service: oneOf(services),
    entities: ENTITIES,
    full_feature_names: FULL_NAMES,
  });
  return { anyOf: [byFeature, byService] };
};

const ANSWER = objectOf<OnlineAnswer>({
  metadata: objectOf<OnlineAnswer['metadata']>({
    feature_names: { type: 'array', items: { type: 'string' } },
  }),
  results: {
    type: 'array',
    items: objectOf<OnlineAnswer['results'][number]>({
      values: { type: 'array', items: {}, description: 'By row; null where there is no value.' },
      statuses: { type: 'array', items: { type: 'string', enum: FEAST_STATUSES } },
      event_timestamps: {
        type: 'array',
        description: 'When the value was true, as ISO 8601; 1970-01-01T00:00:00Z where that is not known.',
        items: { type: 'string' },
      },
    }),
  },
});

export const getOnlineFeatures: PostRoute = {
  path: '/feature/get-online-features',
  scope: 'features',
  method: 'POST',
  class: 'online_features',
  limitMs: ({ onlineMs }) => onlineMs,
  body: {
    limit: 'otherBytes',
    entityTypes: typesOfFeatures,
    schema: ({ views }) => onlineSchema(views, 'feature_name'),
    examples: ({ views, entityTypes }) =>
      Object.fromEntries(
        Array.from(views.values(), (view) => [
          view.name,
          { summary: view.name, value: exampleRequest(view, entityTypes) },
        ]),
      ),
  },
  handler:
    ({ online, metrics }) =>
    async (exchange) => {
      const { deadline, span } = exchange;
      const { answer, report } = await withBody(exchange, (body) => online.read(body, deadline, span));
      metrics.read(report);
      await sendLargeJson(exchange.res, answer);
    },
  operation: ({ views, entityTypes }) => {
    const [first] = views.values();
    return {
      operationId: 'get_online_features',
      tags: ['Features'],
      summary: 'Read features as ranking reads them',
      description:
        "In the shape of Feast's feature server. A default stands among the values where ranking would read it; its status says " +
        'why. INVALID is a value that could not be read.',
      responses: {
        200: jsonAnswer(
          'One result for each list of ids and for each feature, in the order of `feature_names`.',
          ANSWER,
          first && exampleAnswer(first, entityTypes),
        ),
        ...problemResponses([...BODY_PROBLEMS, 'unknown_view', ...STORE_READ_FAILURES, 'deadline_exceeded']),
      },
    };
  },
  schemas: ({ views }) => [
    ['feature_name', namesSchema(featureNames(views))],
    ['feast_feature_name', namesSchema(feastNames(views))],
  ],
};

/** The same for clients of Feast: its feature server's path, forms of values and forms of errors. */
export const feastOnlineFeatures: PostRoute = {
  ...getOnlineFeatures,
  path: '/get-online-features',
  body: { ...getOnlineFeatures.body, schema: ({ views }) => feastBodySchema(views) },
  handler: ({ online, metrics }) =>
    forFeast(async (exchange) => {
      const { deadline, span } = exchange;
      const { answer, report } = await withBody(exchange, (body) =>
        online.read(body, deadline, span, 'feast'),
      );
      metrics.read(report);
      await sendLargeJson(exchange.res, answer);
    }),
  operation: () => ({
    operationId: 'feast_get_online_features',
    tags: ['Features'],
    summary: "Read features at the path of Feast's feature server",
    description:
      'For `online_store: {type: remote}` of Feast 0.67. Unlike `/feature/get-online-features`, times are seconds, JSON that a view ' +
      'declares in texts is sent as JSON, and a body may name a `feature_service`. Errors have the form of Feast.',
    responses: {
      200: jsonAnswer('As of `/feature/get-online-features`.', ANSWER),
      ...feastErrorResponses(),
    },
  }),
};

function exampleRequest(view: FeatureView, types: EntityTypes): Schema {
  const ids = rowKeys(view, types).map((key, i) => [key, [exampleId(view.of[i] ?? '')]] as const);
  return {
    features: [...view.features.keys()].slice(0, 2).map((feature) => `${view.name}:${feature}`),
    entities: Object.fromEntries(ids),
    full_feature_names: false,
  };
}

function exampleAnswer(view: FeatureView, types: EntityTypes): Schema {
  const keys = rowKeys(view, types);
  const [feature] = view.features.values();
  const value = feature && exampleFields([feature])[feature.name];
  return {
    metadata: { feature_names: [...keys, ...(feature === undefined ? [] : [feature.name])] },
    results: [
      ...view.of.map((type) => ({
        values: [exampleId(type)],
        statuses: ['PRESENT'],
        event_timestamps: ['1970-01-01T00:00:00Z'],
      })),
      ...(feature === undefined
        ? []
        : [{ values: [value ?? null], statuses: ['PRESENT'], event_timestamps: ['2026-01-01T00:00:00Z'] }]),
    ],
  };
}
