import { MillraceError } from '../../../ground/api/errors.js';
import { bodySchema, type BodyFields } from '../../../ground/core/body-fields.js';
import { WORKSHOP_BODIES, type KeptTest, type LoggedRanking } from '../../compare/workshop-answers.js';
import { PIPELINE_PROBLEMS } from '../openapi/problems.js';
import { objectOf, type Schema } from '../openapi/types.js';
import type { ApiParts, Route } from '../route.js';
import type { HttpServices, WorkshopService } from '../services.js';
import { rankingName, rankingNames, toldRoute, type Described } from '../told-route.js';

type Name = keyof typeof WORKSHOP_BODIES;
const TEXT = { type: 'string' };
const NOTES = { type: 'array', items: TEXT };

interface WorkshopRoute extends Described {
  readonly path: string;
  readonly parts: (api: ApiParts) => Readonly<Record<string, Schema>>;
}

const ROUTES: { readonly [N in Name]: WorkshopRoute } = {
  logged: {
    path: '/api/v1/rankings/logged',
    operation: 'get_logged_ranking',
    summary: 'Read a logged request',
    description:
      'The body of a request of the ledger, to send it again, with the places and the values of its candidates as they were logged.',
    parts: (api) => ({
      request_id: { description: 'As the answer of the ranking has it.' },
      pipeline: {
        ...rankingName(api),
        description: 'The pipeline that gets the body; by default the one that logged it.',
      },
    }),
    example: () => ({ request_id: '7d1c2f0a' }),
    answer: objectOf<LoggedRanking>({
      request_id: TEXT,
      pipeline: TEXT,
      at: { ...TEXT, description: 'When it was answered, ISO 8601.' },
      body: { type: 'object' },
      notes: { ...NOTES, description: 'What the log lacks.' },
      candidates: {
        type: 'array',
        items: {
          type: 'object',
          required: ['candidate_id', 'place', 'score', 'values'],
          properties: {
            candidate_id: TEXT,
            place: { type: ['integer', 'null'], description: 'From 1; null if a step removed it.' },
            score: { type: ['number', 'null'] },
            values: { type: 'object', description: 'As an explanation has them, by name.' },
          },
        },
      },
    }),
    problems: ['unknown_logged_request'],
  },
  keep: {
    path: '/api/v1/rankings/keep',
    operation: 'keep_ranking',
    summary: 'Keep a ranking as a test',
    description:
      'Ranks a request, and writes a test of the project with the data that the ranking read and the order that it has. The test has passed. Models are replaced by what they answered.',
    parts: (api) => ({
      test: { description: 'The name of the test.' },
      pipeline: { ...rankingName(api), description: 'The pipeline.' },
      request: { description: 'The body of the request.' },
    }),
    example: (api) => {
      const [pipeline] = rankingNames(api);
      return pipeline === undefined
        ? undefined
        : {
            test: 'lamps',
            pipeline,
            request: { candidates: { from: 'index', where: 'true', limit: 5 } },
          };
    },
    answer: objectOf<KeptTest>({
      file: { ...TEXT, description: 'Where it belongs, below the folder of the project.' },
      yaml: { ...TEXT, description: 'Its content.' },
      notes: NOTES,
    }),
    problems: ['test_not_kept'],
  },
};

/** @throws MillraceError comparisons_elsewhere in a process that ranks */
function workshopOf({ workshop }: HttpServices): WorkshopService {
  if (workshop !== undefined) return workshop;
  throw new MillraceError(
    'comparisons_elsewhere',
    'this process ranks, and neither reads the ledger nor runs tests; use `millrace workbench --url` with its address, or `millrace workbench` on the same Redis',
  );
}

function routeOf(name: Name): Route {
  const { path, parts, problems, ...told } = ROUTES[name];
  return toldRoute(
    {
      ...{ path, tag: 'Comparisons', limit: 'rankingBytes' },
      ...{ scope: 'explain', audience: 'operators', class: 'explain' },
    },
    {
      ...told,
      schema: (api) => ({
        ...bodySchema(WORKSHOP_BODIES[name] as BodyFields, parts(api)),
        additionalProperties: false,
      }),
      problems: [
        ...PIPELINE_PROBLEMS,
        'key_not_allowed',
        ...problems,
        'comparisons_elsewhere',
        'unknown_pipeline',
      ],
      run: (services, body, who) => workshopOf(services)[name](body, who),
    },
  );
}

export const WORKSHOP: readonly Route[] = (Object.keys(ROUTES) as Name[]).map(routeOf);
