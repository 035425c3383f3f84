import { MillraceError } from '../../../ground/api/errors.js';
import { TIME_FORMS, timestampOf } from '../../../ground/core/timestamp.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import { explainPath } from '../explain-path.js';
import { withWholeBody } from '../handle-body.js';
import { embedComponents } from '../openapi/embed-schema.js';
import { exampleOf } from '../openapi/example.js';
import { EXPLANATION_SCHEMA } from '../openapi/explanation-schema.js';
import { PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, RUN_PARAMETERS, schemaRef } from '../openapi/types.js';
import { pipelineContext, requestSchemaName } from '../pipeline-request.js';
import { requestState, startAnswer } from '../request-state.js';
import { sendLargeJson } from '../respond.js';
import type { PostRoute } from '../route.js';

const AT = {
  name: 'at',
  in: 'query',
  required: false,
  description:
    'A preview: dated rules of curation are looked up at this time, ISO 8601 or epoch milliseconds. Everything else is as it is now.',
  schema: { type: 'string', example: '2026-11-27T12:00:00Z' },
};

/** @throws MillraceError invalid_body if the parameter is no time */
function previewOf(url: string): { readonly rulesAt?: number } {
  const at = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('at');
  if (!url.includes('?') || at === null) return {};
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
      schema: () => schemaRef(requestSchemaName(name)),
      examples: () => ({ request: { summary: 'ids alone', value: exampleOf(requestSchema) } }),
    },
    handler: () => async (req, res) => {
      const work = async (body: unknown): Promise<void> => {
        requestState(res).span?.set({ 'millrace.pipeline': name });
        const context = { ...pipelineContext(req, res, body), ...previewOf(req.url) };
        const explanation = await pipeline.explain(body, context);
        startAnswer(res);
        await sendLargeJson(res, explanation);
      };
      await withWholeBody(req, work, 'candidates');
    },
    operation: () => ({
      operationId: `explain_${name}`,
      tags: ['Ranking'],
      summary: `Explain an answer of the pipeline ${name}`,
      description:
        'Runs the request as its route would, without effects, and tells why it is answered so: every value with its ' +
        'status, what each step did, what was filtered and why. Not counted as a ranking. It shows what the index holds: ' +
        'keep it from the public.',
      parameters: [...RUN_PARAMETERS, AT],
      responses: {
        200: jsonAnswer('Why.', schemaRef('explanation')),
        ...problemResponses(PIPELINE_PROBLEMS),
      },
    }),
    schemas: () => [
      ['explanation', EXPLANATION_SCHEMA],
      ...embedComponents(requestSchemaName(name), requestSchema),
    ],
  };
}
