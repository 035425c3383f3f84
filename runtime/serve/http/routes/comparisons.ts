import { MillraceError } from '../../../ground/api/errors.js';
import { bodySchema, type BodyFields } from '../../../ground/core/body-fields.js';
import {
  COMPARISON_STATES,
  ID_BODY,
  MOST_LOGGED,
  START_BODY,
  type ComparisonAnswer,
  type ComparisonList,
  type ComparisonRequest,
  type ComparisonState,
} from '../../compare/comparison.js';
import { BODY_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { objectOf, oneOf, plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { ApiParts, GetRoute, Route } from '../route.js';
import type { ComparisonService, HttpServices } from '../services.js';
import { rankingName, rankingNames, toldRoute, whoOf, type Told } from '../told-route.js';

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const FIELDS: { readonly [Name in keyof ComparisonRequest]-?: string } = {
  pipeline: 'The pipeline that is measured.',
  against: 'The pipeline that it is compared with.',
  judgments: 'A file of the folder `judgments/` of the project.',
  logged: `Instead of judgments: so many requests of the ledger, the newest, at most ${MOST_LOGGED}. A click has grade 1.`,
  queries: 'Instead of judgments: queries. Without grades, the rankings of two pipelines are compared.',
  experiment: 'Instead of all others: the report of this experiment.',
  query_field:
    'The field of the request that gets the query: `FIELD` or `FIELD.ATTRIBUTE`; needed if several may be it.',
  slice: 'The column of the judgments, or attribute of the query, to report separately.',
  metrics: 'Such as `ndcg@10`. The first one decides what the worst queries are.',
  require: 'The gate: conditions such as `lower(delta.ndcg@10) > 0`.',
  draft:
    'With `logged`: what the drafts of this name change of logged requests, instead of a second pipeline. It needs the scope `preview`.',
  at: 'With `draft`: the time of the rules, ISO 8601; by default now.',
};
const names = (api: ApiParts): Readonly<Record<string, Schema>> => {
  const ranking = rankingName(api);
  return { pipeline: ranking, against: ranking, experiment: oneOf(api.experimentNames) };
};
const requestSchema = (api: ApiParts): Schema => {
  const known = names(api);
  const parts = Object.fromEntries(
    Object.entries(FIELDS).map(([name, description]) => [name, { ...known[name], description }]),
  );
  return { ...bodySchema(START_BODY as BodyFields, parts), additionalProperties: false };
};
const STATE_FIELDS = {
  comparison: { ...TEXT, description: 'Its id.' },
  state: { type: 'string', enum: COMPARISON_STATES },
  request: { type: 'object', description: 'The body that started it.' },
  author: { type: ['string', 'null'], description: 'Who started it; null if the service needs no keys.' },
  at: { ...TEXT, description: 'When, ISO 8601.' },
  progress: { type: ['number', 'null'], minimum: 0, maximum: 1, description: 'Null if it is not known.' },
  notes: { ...TEXTS, description: 'Warnings and notes.' },
  problem: { type: ['string', 'null'], description: 'Why it failed.' },
};
const STATE = objectOf<ComparisonState>(STATE_FIELDS);
const ANSWER = objectOf<ComparisonAnswer>({
  ...STATE_FIELDS,
  report: {
    type: ['object', 'null'],
    description: 'What it says, as a tree: a title, the gate, and parts. Null until it is done.',
  },
  result: {
    type: ['object', 'null'],
    description: 'The same as `--json` of `evaluate`, `diff` and `experiments report` prints it.',
  },
});
const LIST = objectOf<ComparisonList>({
  pipelines: { ...TEXTS, description: 'The pipelines that rank.' },
  judgments: { ...TEXTS, description: 'The files of judgments/.' },
  experiments: { ...TEXTS, description: 'The experiments that have a report.' },
  comparisons: { type: 'array', items: STATE, description: 'The latest first.' },
});

const COMMON = { scope: 'explain', audience: 'operators', class: 'upload' } as const;

/** @throws MillraceError comparisons_elsewhere in a process that does not compare */
function compared({ comparisons }: HttpServices): ComparisonService {
  if (comparisons !== undefined) return comparisons;
  throw new MillraceError(
    'comparisons_elsewhere',
    'this process ranks, and runs no comparisons; use `millrace workbench --url` with its address, or `millrace workbench` on the same Redis',
  );
}

const list: GetRoute = {
  path: '/api/v1/comparisons',
  ...COMMON,
  method: 'GET',
  handler: (services) => async (exchange) => {
    sendJson(exchange.res, 200, await compared(services).list(whoOf(exchange)));
  },
  operation: () => ({
    operationId: 'list_comparisons',
    tags: ['Comparisons'],
    summary: 'List the comparisons',
    description: 'The comparisons of this process of the workbench, and the names that one may use.',
    responses: {
      200: plainJson('The comparisons.', LIST),
      ...problemResponses(['comparisons_elsewhere']),
    },
  }),
};

const BY_ID = {
  schema: () => bodySchema(ID_BODY, { comparison: { description: 'Its id.' } }),
  example: () => ({ comparison: '1f0c9a2e' }),
  problems: ['unknown_comparison'],
} as const;

const ROUTES: Readonly<Record<string, Told>> = {
  start: {
    schema: requestSchema,
    example: (api) => {
      const [pipeline] = rankingNames(api);
      return pipeline === undefined
        ? undefined
        : { pipeline, judgments: 'test.csv', require: ['ndcg@10 >= 0.7'] };
    },
    operation: 'start_comparison',
    summary: 'Start a comparison',
    description:
      'Measures a pipeline, or compares two, over judgments, logged requests or queries, as a job of the process of the workbench. ' +
      'One runs at a time, at most ten minutes; the last 10 are kept.',
    answer: STATE,
    problems: ['comparisons_full'],
    run: (services, body, who) => compared(services).start(body, who),
  },
  get: {
    ...BY_ID,
    operation: 'get_comparison',
    summary: 'Read a comparison',
    description: 'How far a comparison is, and once it is done, what it says.',
    answer: ANSWER,
    run: (services, body, who) => compared(services).get(body, who),
  },
  stop: {
    ...BY_ID,
    operation: 'stop_comparison',
    summary: 'Stop a comparison',
    description: 'A running comparison stops before it ranks the next query or reads the next records.',
    answer: STATE,
    run: (services, body, who) => compared(services).stop(body, who),
  },
};

export const COMPARISONS: readonly Route[] = [
  list,
  ...Object.entries(ROUTES).map(([name, told]) =>
    toldRoute(
      { path: `/api/v1/comparisons/${name}`, tag: 'Comparisons', limit: 'otherBytes', ...COMMON },
      { ...told, problems: [...BODY_PROBLEMS, ...told.problems, 'comparisons_elsewhere'] },
    ),
  ),
];
