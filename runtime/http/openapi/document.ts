import { SCOPES } from '../../access/scopes.js';
import type { ErrorCode } from '../../api/error-codes.js';
import { DEGRADATION_CAUSES } from '../../pipeline/page/degraded.js';
import type { ApiParts, Route } from '../route.js';
import { KEY_PROBLEMS, PROBLEM_SCHEMA, problemResponses } from './problems.js';
import { jsonBody, type Schema } from './types.js';

const DESCRIPTION = `Ranks and scores with pipelines written in YAML, over an index of entities and a store of features.

Every answer has a header \`X-Request-Id\`. What goes wrong is answered as \`application/problem+json\` (RFC 9457), with a
stable \`code\`.`;

const TAGS = [
  { name: 'Ranking', description: 'One route for each pipeline.' },
  { name: 'Entities', description: 'The index that requests are filled from.' },
  { name: 'Features', description: 'Batch features, kept beside the index.' },
  { name: 'Feedback', description: 'What users did with what they were shown.' },
  { name: 'Privacy', description: 'Remove what is known about an entity.' },
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
  'WWW-Authenticate': { description: 'How to send a key (RFC 6750).', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
};

const KEY_SCHEME = 'key';
const SECURITY_SCHEME: Schema = {
  type: 'http',
  scheme: 'bearer',
  description: `A key that \`millrace keys create\` made. Scopes: ${Object.entries(SCOPES)
    .map(([scope, meaning]) => `\`${scope}\`: ${meaning}`)
    .join(' ')}`,
};

/** The OpenAPI 3.1 description of the routes. If the service needs no keys, it says nothing of them. */
export function describeApi(routes: readonly Route[], api: ApiParts): Schema {
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version: api.version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths: Object.fromEntries(routes.flatMap((route) => pathOf(route, api))),
    components: {
      schemas: Object.fromEntries([
        ['problem', PROBLEM_SCHEMA],
        ...routes.flatMap(({ schemas }) => schemas?.(api) ?? []),
      ]),
      headers: HEADERS,
      ...(api.keys === undefined ? {} : { securitySchemes: { [KEY_SCHEME]: SECURITY_SCHEME } }),
    },
  };
}

function pathOf(route: Route, api: ApiParts): [string, Schema][] {
  if (route.operation === undefined) return [];
  const { responses: own, ...described } = route.operation(api);
  const guarded = api.keys !== undefined && route.scope !== 'none';
  const head = api.keys === undefined ? described : { ...described, security: securityOf(route) };
  const responses = guarded ? { ...own, ...problemResponses(keyProblems(route)) } : own;
  if (route.method === 'GET') return [[route.path, { get: { ...head, responses } }]];
  const requestBody = jsonBody(route.body.schema(api), route.body.examples(api));
  return [[route.path, { post: { ...head, requestBody, responses } }]];
}

function securityOf({ scope }: Route): readonly Schema[] {
  return scope === 'none' ? [] : [{ [KEY_SCHEME]: scope === 'any' ? [] : [scope] }];
}

function keyProblems(route: Route): readonly ErrorCode[] {
  const isRestricted =
    route.pipeline !== undefined || (route.method === 'POST' && route.body.entityTypes !== undefined);
  return [
    ...KEY_PROBLEMS,
    ...(route.scope === 'any' ? [] : (['scope_missing'] as const)),
    ...(isRestricted ? (['key_not_allowed'] as const) : []),
  ];
}
