import type { IncomingMessage } from 'node:http';
import { MillraceError } from '../../../ground/api/errors.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import { idProblem } from '../../../ground/core/ids.js';
import type { ExplainOptions, Pipeline } from '../../../request/pipeline/types.js';
import { hasScope } from '../../access/scopes.js';
import { explainPath } from '../explain-path.js';
import { withWholeBody } from '../handle-body.js';
import { AT, DRAFT } from '../openapi/preview-parameters.js';
import { embedComponents } from '../openapi/embed-schema.js';
import { exampleOf } from '../openapi/example.js';
import { EXPLANATION_SCHEMA, PART_SCHEMA } from '../openapi/explanation-schema.js';
import { PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, RUN_PARAMETERS, schemaRef } from '../openapi/types.js';
import { pipelineContext, requestSchemaName } from '../pipeline-request.js';
import { sendLargeJson } from '../respond.js';
import type { PostRoute } from '../route.js';

const CONTRIBUTIONS = {
  name: 'contributions',
  in: 'query',
  required: false,
  description: 'Whether each candidate has `contributions`: how its score came to be.',
  schema: { type: 'boolean', default: false },
};

const TEST_CASE = {
  ...CONTRIBUTIONS,
  name: 'test_case',
  description: 'Whether the answer has `test_case`: what the ranking read and answered, for a test.',
};

const COMPARE = {
  name: 'compare',
  in: 'query',
  required: false,
  description: 'The id of a candidate that is compared with another one, in `compared`.',
  schema: { type: 'string', example: 'p17' },
};

const WITH = { ...COMPARE, name: 'with', description: 'The id of that other candidate.' };

const LIFT = {
  ...COMPARE,
  name: 'lift',
  description: 'The id of a candidate: `lifts` has changes of its values that lift it to the place `to`.',
};

const TO = {
  ...COMPARE,
  name: 'to',
  description: 'That place, from 1.',
  schema: { type: 'integer', minimum: 1, example: 3 },
};

const PARAM = {
  name: 'param',
  in: 'query',
  required: false,
  description:
    'Another value of a param of the pipeline, `NAME=NUMBER`; it may stand there several times. The answer has the change of the file in `params_diff`. A service that ranks compiles the pipeline again for it, and keeps it for five minutes.',
  schema: { type: 'array', items: { type: 'string', example: 'w_pop=0.5' } },
};

const WHY = {
  name: 'why',
  in: 'query',
  required: false,
  description: 'The id of a candidate: the answer says why it is where it is, or not there (`why`).',
  schema: { type: 'string', example: 'p17' },
};

export function parametersOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
}

/** @throws MillraceError invalid_body if a parameter is wrong */
function optionsOf(parameters: URLSearchParams): ExplainOptions {
  const why = parameters.get('why');
  const problem = why === null ? undefined : idProblem(why);
  if (problem !== undefined) throw new MillraceError('invalid_body', `the parameter why: ${problem}`);
  const [one, other] = [parameters.get('compare'), parameters.get('with')];
  if ((one === null) !== (other === null))
    throw new MillraceError(
      'invalid_body',
      'the parameters compare and with: expected both, each the id of a candidate',
    );
  const pair = one === null || other === null ? {} : { compare: [one, other] as const };
  const [lifted, to] = [parameters.get('lift'), parameters.get('to')];
  if ((lifted === null) !== (to === null) || (to !== null && !/^[1-9]\d{0,8}$/.test(to)))
    throw new MillraceError(
      'invalid_body',
      'the parameters lift and to: expected the id of a candidate, and a place from 1',
    );
  return {
    ...previewOf(parameters.get('at')),
    ...paramsOf(parameters.getAll('param')),
    ...(lifted === null ? {} : { lift: { id: lifted, to: Number(to) } }),
    ...(why === null ? {} : { why }),
    ...pair,
    contributions: flagOf(parameters, CONTRIBUTIONS.name),
    testCase: flagOf(parameters, TEST_CASE.name),
  };
}

/** @throws MillraceError invalid_body if it is neither true nor false */
function flagOf(parameters: URLSearchParams, name: string): boolean {
  const text = parameters.get(name) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new MillraceError('invalid_body', `the parameter ${name}: expected true or false`);
}

/** @throws MillraceError invalid_body if one is not `NAME=NUMBER` */
function paramsOf(texts: readonly string[]): Pick<ExplainOptions, 'params'> {
  if (texts.length === 0) return {};
  const params = new Map<string, number>();
  for (const text of texts) {
    const [, name, number = ''] = /^([a-z][a-z0-9_]*)=(-?[\d.]+(?:e[-+]?\d+)?)$/i.exec(text) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value) || params.has(name))
      throw new MillraceError(
        'invalid_body',
        'the parameter param: expected NAME=NUMBER, such as w_pop=0.5, once for each param',
      );
    params.set(name, value);
  }
  return { params };
}

/** @throws MillraceError invalid_body if it is no time */
export function previewOf(at: string | null): Pick<ExplainOptions, 'rulesAt'> {
  if (at === null) return {};
  // A plus that is not escaped means a space in a query; a time has none before its offset.
  const rulesAt = timestampOf(/^-?\d+$/.test(at) ? Number(at) : at.replace(' ', '+'));
  if (!Number.isNaN(rulesAt)) return { rulesAt };
  throw new MillraceError('invalid_body', `the parameter at: expected ${TIME_FORMS}`);
}

/**
 * The route that explains a pipeline. Explanations are not rankings: the metrics of the pipeline do not count them. Its
 * anchor in the reference is `#operation/explain_<pipeline>`.
 */
export function explain(pipeline: Pipeline): PostRoute {
  const { name, requestSchema } = pipeline;
  return {
    path: explainPath(pipeline.route),
    scope: 'explain',
    pipeline: name,
    isPrivate: true,
    method: 'POST',
    class: 'explain',
    audience: 'operators',
    body: {
      limit: 'rankingBytes',
      entityTypes: undefined,
      schema: () => schemaRef(requestSchemaName(pipeline)),
      examples: () => ({ request: { summary: 'ids alone', value: exampleOf(requestSchema) } }),
    },
    handler:
      ({ drafts }) =>
      async (exchange) => {
        const work = async (body: unknown): Promise<void> => {
          exchange.span?.set({ 'millrace.pipeline': name });
          const parameters = parametersOf(exchange.req);
          const options = optionsOf(parameters);
          const draft = parameters.get('draft');
          if (draft !== null && exchange.key !== undefined && !hasScope(exchange.key.scopes, 'preview'))
            throw new MillraceError('scope_missing', 'the parameter draft: the key lacks the scope preview');
          const context = {
            ...pipelineContext(exchange, body),
            ...options,
            rules: draft === null ? undefined : await drafts.preview(draft),
            withCards: true,
          } as const;
          const explanation = await pipeline.explain(body, context);
          exchange.startAnswer();
          await sendLargeJson(exchange.res, explanation);
        };
        await withWholeBody(exchange, work, 'candidates');
      },
    operation: () => ({
      operationId: `explain_${name}`,
      tags: ['Ranking'],
      summary: `Explain an answer of the pipeline ${name}`,
      description:
        'Runs the request as its route would, without effects, and says why it is answered so: every value with its ' +
        'status, what each step did, what was filtered and why. Not counted as a ranking. It shows what the index holds: ' +
        'keep it from the public.',
      parameters: [
        ...RUN_PARAMETERS,
        DRAFT,
        AT,
        WHY,
        CONTRIBUTIONS,
        COMPARE,
        WITH,
        LIFT,
        TO,
        PARAM,
        TEST_CASE,
      ],
      responses: {
        200: jsonAnswer('Why.', schemaRef('explanation')),
        ...problemResponses([
          ...PIPELINE_PROBLEMS,
          'unknown_draft',
          'test_not_kept',
          'comparisons_elsewhere',
        ]),
      },
    }),
    schemas: () => [
      ['explanation', EXPLANATION_SCHEMA],
      ['explained_part', PART_SCHEMA],
      ...embedComponents(requestSchemaName(pipeline), requestSchema),
    ],
  };
}
