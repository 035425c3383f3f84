import { SCOPES } from '../../access/scopes.js';
import type { ErrorCode } from '../../../ground/api/error-codes.js';
import { DEGRADATION_CAUSES } from '../../../request/pipeline/page/degraded.js';
import { openApiPath, parametersIn } from '../route-path.js';
import type { ApiParts, Route } from '../route.js';
import { ID_SCHEMA } from '../../../ground/core/ids.js';
import { TIME_SCHEMA } from '../../../ground/core/value-schema.js';
import {
  HEAD_PROBLEMS,
  joinResponses,
  KEY_PROBLEMS,
  PROBLEM_EXAMPLES,
  PROBLEM_SCHEMA,
  problemResponses,
  type ProblemResponse,
} from './problems.js';
import { jsonBody, type Schema } from './types.js';
import { usedComponents } from './used-components.js';

const DESCRIPTION = `Ranks and scores with pipelines written in YAML, over an index of entities and a store of features.

Every answer has a header \`X-Request-Id\`. What goes wrong is answered as \`application/problem+json\` (RFC 9457), with a
stable \`code\`.`;

const TAGS = [
  { name: 'Ranking', description: 'One route for each pipeline.' },
  { name: 'Entities', description: 'The index that requests are filled from.' },
  { name: 'Features', description: 'Batch features, kept beside the index.' },
  { name: 'Feedback', description: 'What users did with what they were shown.' },
  { name: 'Privacy', description: 'Remove what is known about an entity.' },
  { name: 'Curation', description: 'Dated rules of merchandisers.' },
  { name: 'Judging', description: 'Rounds in which people grade the candidates of pipelines.' },
  { name: 'Comparisons', description: 'Jobs of the workbench that compare pipelines.' },
  { name: 'Service', description: 'For those who run it.' },
];

const HEADERS = {
  'X-Request-Id': {
    description: "The request's id: as sent in the body of a ranking or in this header, else made up.",
    schema: { type: 'string' },
  },
  'Millrace-Preview': {
    description: 'Of a preview: the draft, the time of the rules, and the time of all other values.',
    schema: { type: 'string', examples: ['draft=friday, at=2026-11-28T19:00Z, values=2026-11-20T09:00Z'] },
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
  'Millrace-Experiment': {
    description:
      'Only where the request takes part in experiments: members `experiment=arm`, separated by commas. The arm of a ' +
      'page with candidates of both arms is `interleaved`, and the parameter `teams` has a character for each of the ' +
      'first 1,000 candidates: `0` if control placed it, `1` if the other arm did, `-` if both did.',
    schema: { type: 'string', examples: ['popularity=popular', 'prices=interleaved;teams="-0110"'] },
  },
  'Millrace-Unknown-Fields': {
    description:
      'Only where the body has fields that nothing declares, which are ignored, and which are nearly declared ones: members ' +
      '`field;near=declared`, separated by commas.',
    schema: { type: 'string', examples: ['usr;near=user'] },
  },
  'Millrace-Coerced': {
    description:
      'Only if the project accepts lax bodies and values of the body were converted to their declared types: how many.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'How to send a key (RFC 6750).', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
};

const PARAMETERS = {
  run_id: {
    name: 'X-Millrace-Run-Id',
    in: 'header',
    required: false,
    description: 'Becomes the `run_id` of the events. Generated if absent.',
    schema: { type: 'string' },
  },
  experiment: {
    name: 'Millrace-Experiment',
    in: 'header',
    required: false,
    description:
      'Chooses arms: members `experiment=arm`, separated by commas. It needs the scope `experiments`.',
    schema: { type: 'string', examples: ['popularity=popular'] },
  },
};

const KEY_SCHEME = 'key';
const SECURITY_SCHEME: Schema = {
  type: 'http',
  scheme: 'bearer',
  description: `A key that \`millrace keys create\` made. Scopes: ${Object.entries(SCOPES)
    .map(([scope, meaning]) => `\`${scope}\`: ${meaning}`)
    .join(' ')}`,
};

/**
 * The OpenAPI 3.1 description of the routes. It describes the key in any case, so that a client that was generated for a
 * service without keys can also call one with keys.
 */
export function describeApi(routes: readonly Route[], api: ApiParts): Schema {
  const paths: Record<string, Schema> = {};
  for (const [path, operation] of routes.flatMap((route) => pathOf(route, api)))
    paths[path] = { ...paths[path], ...operation };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: api.version,
      description: DESCRIPTION,
      contact: { name: 'Millrace' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    tags: TAGS,
    paths,
    components: usedComponents(paths, {
      schemas: Object.fromEntries([
        ['id', { ...ID_SCHEMA, description: 'An id. A whole number means its decimal text.' }],
        ['time', TIME_SCHEMA],
        ['problem', PROBLEM_SCHEMA],
        ...routes.flatMap(({ schemas }) => (schemas?.(api) ?? []).filter(([name]) => !SHARED.has(name))),
      ]),
      headers: HEADERS,
      parameters: PARAMETERS,
      examples: PROBLEM_EXAMPLES,
      securitySchemes: { [KEY_SCHEME]: SECURITY_SCHEME },
    }),
  };
}

/** Schemas of bodies bring these definitions along. The document describes them itself. */
const SHARED: ReadonlySet<string> = new Set(['id', 'time']);

function pathOf(route: Route, api: ApiParts): [string, Schema][] {
  if (route.operation === undefined) return [];
  const { responses: own, ...described } = route.operation(api);
  const path = openApiPath(route.path);
  const parameters = [...pathParameters(route), ...(described.parameters ?? [])];
  const head = {
    ...described,
    ...(parameters.length === 0 ? {} : { parameters }),
    description: tellScope(described.description, route),
    security: securityOf(route, api),
  };
  const keys = api.keys === undefined || route.scope === 'none' ? [] : keyProblems(route);
  if (route.method === 'GET')
    return [[path, { get: { ...head, responses: withProblems(own, [...HEAD_PROBLEMS, ...keys]) } }]];
  const requestBody = jsonBody(route.body.schema(api), route.body.examples(api));
  return [[path, { post: { ...head, requestBody, responses: withProblems(own, keys) } }]];
}

function pathParameters({ path }: Route): readonly Schema[] {
  return parametersIn(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** Adds the problems of all routes to those that a route has itself. */
function withProblems(own: Schema, codes: readonly ErrorCode[]): Schema {
  const more = problemResponses(codes);
  const both = Object.keys(more).filter((status) => own[status] !== undefined);
  return {
    ...own,
    ...more,
    ...Object.fromEntries(
      both.map((status) => [
        status,
        joinResponses(own[status] as ProblemResponse, more[status] as ProblemResponse),
      ]),
    ),
  };
}

/** The scope stands in the text: linters accept names of scopes only for OAuth. */
function tellScope(description: string | undefined, { scope }: Route): string {
  const needs =
    scope === 'none'
      ? []
      : [scope === 'any' ? 'A key needs any scope.' : `A key needs the scope \`${scope}\`.`];
  return [...(description === undefined ? [] : [description]), ...needs].join('\n\n');
}

function securityOf({ scope }: Route, { keys }: ApiParts): readonly Schema[] {
  if (scope === 'none') return [];
  return keys === undefined ? [{}, { [KEY_SCHEME]: [] }] : [{ [KEY_SCHEME]: [] }];
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
