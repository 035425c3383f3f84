import type { FeatureView } from '../../config/project/model.js';
import type { HttpServices } from '../services.js';
import { DEGRADATION_CAUSES } from '../../pipeline/page/degraded.js';
import { explainPath, PATHS } from '../paths.js';
import {
  deleteEntities,
  entityIdsSchemas,
  entitySchema,
  entitySchemaName,
  getEntities,
  uploadEntities,
} from './entity-operations.js';
import { deleteFeatures, pushFeatures, rowSchema, rowSchemaName } from './feature-operations.js';
import { sendFeedback } from './feedback-operation.js';
import { getOnlineFeatures } from './online-feature-operation.js';
import { EXPLANATION_SCHEMA, explainOperation } from './explain-operation.js';
import { embedSchema } from './embed-schema.js';
import { answerSchemaName, pipelineOperation, requestSchemaName } from './pipeline-operation.js';
import { PROBLEM_SCHEMA } from './problems.js';
import { DESCRIBE, health, METRICS, READY } from './service-operations.js';
import type { Schema } from './types.js';

type Described = Pick<HttpServices, 'pipelines' | 'entityTypes' | 'views' | 'version'>;

const DESCRIPTION = `Ranks and scores with pipelines written in YAML, over an index of entities and a store of features.

Every answer has a header \`X-Request-Id\`. What goes wrong is answered as \`application/problem+json\` (RFC 9457), with a
stable \`code\`.`;

const TAGS = [
  { name: 'Ranking', description: 'One route for each pipeline.' },
  { name: 'Entities', description: 'The index that requests are filled from.' },
  { name: 'Features', description: 'Batch features, kept beside the index.' },
  { name: 'Feedback', description: 'What users did with what they were shown.' },
  { name: 'Service', description: 'For those who run it.' },
];

const HEADERS = {
  'X-Request-Id': {
    description: "The request's id: as sent in the body of a ranking or in this header, else made up.",
    schema: { type: 'string' },
  },
  'Millrace-Degraded': {
    description:
      'Only where the answer is worse than the pipeline promises: members `cause=value`, separated by commas. Causes: ' +
      Object.entries(DEGRADATION_CAUSES)
        .map(([cause, meaning]) => `\`${cause}\`, ${meaning}`)
        .join('; ') +
      '. Ignore causes that you do not know.',
    schema: { type: 'string', examples: ['unscored=24/24, skipped=ltr'] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
};

/** The OpenAPI 3.1 description of what this service answers. */
export function describeApi({ pipelines, entityTypes, views, version }: Described): Schema {
  const types = [...entityTypes.values()];
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths: {
      ...Object.fromEntries(
        pipelines.flatMap((pipeline) => [
          [pipeline.route, { post: pipelineOperation(pipeline) }],
          [explainPath(pipeline.route), { post: explainOperation(pipeline) }],
        ]),
      ),
      [PATHS.uploadEntities]: { post: uploadEntities(types) },
      [PATHS.getEntities]: { post: getEntities(types) },
      [PATHS.deleteEntities]: { post: deleteEntities(types, 'delete_entities', 'Delete entities') },
      [PATHS.deleteEntitiesToo]: {
        post: deleteEntities(
          types,
          'delete_entities_v1',
          'Delete entities, at the path beside the other two',
        ),
      },
      [PATHS.pushFeatures]: { post: pushFeatures(pushable(views), entityTypes) },
      [PATHS.deleteFeatures]: { post: deleteFeatures(pushable(views), entityTypes) },
      [PATHS.onlineFeatures]: { post: getOnlineFeatures([...views.values()], entityTypes) },
      [PATHS.feedback]: { post: sendFeedback(types) },
      [PATHS.health]: { get: health('health') },
      [PATHS.healthToo]: { get: health('health_check') },
      [PATHS.ready]: { get: READY },
      [PATHS.metrics]: { get: METRICS },
      [PATHS.openapi]: { get: DESCRIBE },
    },
    components: { schemas: schemas({ pipelines, entityTypes, views }), headers: HEADERS },
  };
}

/** Views that Feast keeps are read alone. */
function pushable(views: Described['views']): FeatureView[] {
  return [...views.values()].filter(({ source }) => source === undefined);
}

function schemas({ pipelines, entityTypes, views }: Omit<Described, 'version'>): Schema {
  const types = [...entityTypes.values()];
  const named: [string, Schema][] = [
    ['problem', PROBLEM_SCHEMA],
    ['explanation', EXPLANATION_SCHEMA],
    ...entityIdsSchemas(types),
    ...types.map((type): [string, Schema] => [entitySchemaName(type.name), entitySchema(type)]),
    ...pushable(views).map((view): [string, Schema] => [
      rowSchemaName(view.name),
      rowSchema(view, entityTypes),
    ]),
  ];
  const embed = (name: string, schema: Schema): void => {
    named.push([name, embedSchema(schema, `#/components/schemas/${name}`)]);
  };
  for (const { name, requestSchema, answerSchema } of pipelines) {
    embed(requestSchemaName(name), requestSchema);
    embed(answerSchemaName(name), answerSchema);
  }
  return Object.fromEntries(named);
}
