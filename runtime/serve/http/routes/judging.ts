import { STORE_READ_FAILURES, STORE_WRITE_FAILURES } from '../../../ground/api/error-codes.js';
import { bodySchema, type BodyFields } from '../../../ground/core/body-fields.js';
import type { Agreement } from '../../../ground/core/agreement.js';
import {
  DEFAULT_DEPTH,
  DEFAULT_GRADES,
  JUDGING_BODIES,
  MOST_ROUNDS,
  type JudgedView,
  type JudgingExport,
  type JudgingRoute,
  type RoundList,
  type RoundState,
} from '../../judging/round.js';
import { CARD_SCHEMA } from '../openapi/explanation-schema.js';
import { BODY_PROBLEMS, PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { objectOf, plainJson, type Schema } from '../openapi/types.js';
import { sendJson } from '../respond.js';
import type { ApiParts, GetRoute, Route } from '../route.js';
import type { JudgingService } from '../services.js';
import { rankingName, rankingNames, toldRoute, whoOf, type Described } from '../told-route.js';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
const GRADES = {
  type: 'array',
  items: { type: 'integer' },
  description: 'The grades that a judge may give.',
};
const armOf = (pipeline: Schema): Schema => ({
  type: 'object',
  required: ['pipeline'],
  properties: {
    pipeline,
    params: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'Other values of params.',
    },
  },
  additionalProperties: false,
});
const STATE = objectOf<RoundState>({
  round: { ...TEXT, description: 'Its name.' },
  arms: { type: 'array', items: armOf(TEXT) },
  queries: { ...COUNT, description: 'How many.' },
  depth: { ...COUNT, description: 'So many first candidates of each arm are graded.' },
  grades: GRADES,
  author: { type: ['string', 'null'], description: 'Who started it; null if the service needs no keys.' },
  at: { ...TEXT, description: 'When, ISO 8601.' },
});
const LIST = objectOf<RoundList>({
  pipelines: { type: 'array', items: TEXT, description: 'The pipelines that rank.' },
  rounds: { type: 'array', items: STATE, description: 'The latest first.' },
});
const VIEW = objectOf<JudgedView>({
  round: TEXT,
  number: { type: 'integer', minimum: 1 },
  queries: COUNT,
  query: TEXT,
  judge: { ...TEXT, description: 'Who grades.' },
  grades: GRADES,
  skipped: { type: 'boolean', description: 'Whether this judge skipped the query.' },
  candidates: {
    type: 'array',
    description: 'In an order of this judge, without arms and scores.',
    items: {
      type: 'object',
      required: ['candidate_id', 'grade'],
      properties: { candidate_id: TEXT, card: CARD_SCHEMA, grade: { type: ['integer', 'null'] } },
    },
  },
  done: {
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    description: 'The numbers of the queries that this judge graded whole, or skipped.',
  },
});
const EXPORT = objectOf<JudgingExport>({
  round: TEXT,
  file: { ...TEXT, description: 'A name for the file.' },
  csv: {
    ...TEXT,
    description:
      'Its content: `query,id,grade`. Of several grades of a candidate it has the median, of two in the middle the lower one.',
  },
  queries: COUNT,
  rows: COUNT,
  judges: {
    type: 'array',
    items: {
      type: 'object',
      required: ['judge', 'grades', 'skipped'],
      properties: { judge: TEXT, grades: COUNT, skipped: COUNT },
    },
  },
  agreement: objectOf<Agreement>({
    candidates: { ...COUNT, description: 'Those that at least two judges graded.' },
    percent: { type: ['number', 'null'], description: 'The share of equal grades among all pairs, 0 to 1.' },
    alpha: {
      type: ['number', 'null'],
      description: "Krippendorff's alpha for ordinal grades; 1 is perfect.",
    },
  }),
});

const ROUND = { description: 'The name of the round.' };
const NUMBER = { description: 'The number of the query, from 1.' };
const JUDGE = { description: 'Who grades, only in a service without keys; otherwise the key says it.' };

interface RouteOfJudging extends Described {
  readonly scope: 'explain' | 'judge';
  readonly writes?: true;
  readonly parts: (api: ApiParts) => Readonly<Record<string, Schema>>;
}

const exampleOf =
  (more: object = {}) =>
  () => ({ round: 'lamps', ...more });

const ROUTES: { readonly [Name in JudgingRoute]: RouteOfJudging } = {
  start: {
    operation: 'start_judging',
    scope: 'explain',
    writes: true,
    summary: 'Start a round of judging',
    description: `Stores the queries and the arms whose first candidates people grade. At most ${MOST_ROUNDS} rounds are kept.`,
    parts: (api) => ({
      round: { description: 'Its name.' },
      arms: {
        items: armOf(rankingName(api)),
        minItems: 1,
        description: 'Their first candidates are pooled.',
      },
      queries: {},
      depth: { description: `How many candidates of each arm; by default ${DEFAULT_DEPTH}.` },
      grades: { description: `By default ${DEFAULT_GRADES.join(', ')}.` },
      query_field: {
        description: 'The field of the request that gets the query; needed if several may be it.',
      },
    }),
    example: (api) => {
      const [pipeline] = rankingNames(api);
      return pipeline === undefined
        ? undefined
        : { round: 'lamps', arms: [{ pipeline }], queries: ['lamp', 'desk lamp'] };
    },
    answer: STATE,
    problems: ['round_exists', 'rounds_full', ...STORE_WRITE_FAILURES],
  },
  query: {
    operation: 'get_judged_query',
    scope: 'judge',
    summary: 'Read a query of a round, to grade it',
    description:
      'The candidates without arms and scores, in an order of this judge, with the grades that this judge gave. The first one who reads a query has its candidates found; all judges grade the same ones.',
    parts: () => ({ round: ROUND, number: NUMBER, judge: JUDGE }),
    example: exampleOf({ number: 1 }),
    answer: VIEW,
    problems: ['unknown_round', ...PIPELINE_PROBLEMS, ...STORE_WRITE_FAILURES],
  },
  grade: {
    operation: 'grade_candidates',
    scope: 'judge',
    writes: true,
    summary: 'Grade candidates of a query',
    description:
      'Stores grades of this judge, beside those given before; null takes a grade back. Others lose nothing.',
    parts: () => ({
      round: ROUND,
      number: NUMBER,
      grades: {
        items: {
          type: 'object',
          required: ['candidate_id', 'grade'],
          properties: { candidate_id: TEXT, grade: { type: ['integer', 'null'] } },
          additionalProperties: false,
        },
      },
      skipped: { description: 'Whether this judge skips the query; its grades then do not count.' },
      judge: JUDGE,
    }),
    example: exampleOf({ number: 1, skipped: false }),
    answer: VIEW,
    problems: ['unknown_round', ...STORE_WRITE_FAILURES],
  },
  add: {
    operation: 'add_judged_candidate',
    scope: 'explain',
    writes: true,
    summary: 'Add a candidate to a query of a round',
    description: 'So that judges grade it too.',
    parts: () => ({
      round: ROUND,
      query: { description: 'As the round has it.' },
      candidate_id: { description: 'Its id.' },
    }),
    example: exampleOf({ query: 'lamp', candidate_id: 'p17' }),
    answer: { type: 'object', required: ['round', 'number'], properties: { round: TEXT, number: COUNT } },
    problems: ['unknown_round', ...PIPELINE_PROBLEMS, ...STORE_WRITE_FAILURES],
  },
  export: {
    operation: 'export_judging',
    scope: 'explain',
    summary: 'Export the grades of a round',
    description: 'The grades as a file for `evaluate` and `tune`, and how far the judges agree.',
    parts: () => ({ round: ROUND }),
    example: exampleOf(),
    answer: EXPORT,
    problems: ['unknown_round', ...STORE_READ_FAILURES],
  },
  remove: {
    operation: 'remove_judging',
    scope: 'explain',
    writes: true,
    summary: 'Remove a round',
    description: 'Removes a round and all its grades.',
    parts: () => ({ round: ROUND }),
    example: exampleOf(),
    answer: { type: 'object', required: ['removed'], properties: { removed: TEXT } },
    problems: ['unknown_round', ...STORE_WRITE_FAILURES],
  },
};

const list: GetRoute = {
  path: '/api/v1/judging',
  scope: 'judge',
  audience: 'everyone',
  class: 'upload',
  method: 'GET',
  handler:
    ({ judging }) =>
    async (exchange) =>
      sendJson(exchange.res, 200, await judging.list(whoOf(exchange))),
  operation: () => ({
    operationId: 'list_judging',
    tags: ['Judging'],
    summary: 'List the rounds of judging',
    description: 'The rounds, and the pipelines that may be arms.',
    responses: { 200: plainJson('The rounds.', LIST), ...problemResponses(STORE_READ_FAILURES) },
  }),
};

function routeOf(name: JudgingRoute): Route {
  const { scope, writes, parts, problems, ...told } = ROUTES[name];
  return toldRoute(
    {
      ...{ path: `/api/v1/judging/${name}`, tag: 'Judging', limit: 'otherBytes' },
      ...{ scope, audience: 'everyone', class: 'explain', ...(writes && { writes }) },
    },
    {
      ...told,
      schema: (api) => ({
        ...bodySchema(JUDGING_BODIES[name] as BodyFields, parts(api)),
        additionalProperties: false,
      }),
      problems: [...BODY_PROBLEMS, 'key_not_allowed', ...problems],
      run: ({ judging }, body, who) => (judging[name] as JudgingService['start'])(body, who),
    },
  );
}

export const JUDGING: readonly Route[] = [list, ...(Object.keys(ROUTES) as JudgingRoute[]).map(routeOf)];
