import { timeText } from '../../../ground/core/timestamp.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import { withWholeBody } from '../handle-body.js';
import { exampleOf } from '../openapi/example.js';
import { schemaRef } from '../openapi/types.js';
import { pipelineContext, requestSchemaName } from '../pipeline-request.js';
import { sendJson, sendLargeJson } from '../respond.js';
import type { PostRoute } from '../route.js';
import { parametersOf, previewOf } from './explain.js';
import { setReportHeaders } from './rank.js';

/** Says of what an answer is a preview, and of when its values are. */
const PREVIEW_HEADER = 'Millrace-Preview';

/** Whether the target of a request asks for a preview. */
export function asksPreview(url: string): boolean {
  return /[?&](?:draft|at)=/.test(url);
}

/** The path of the preview in the table of routes. No request has it as its path. */
export function previewPath(route: string): string {
  return `${route}?draft`;
}

/**
 * The route of a pipeline with `?draft=NAME` or `?at=TIME`: what it will answer once the drafts of the name are published, and
 * at that time. It leaves nothing. The operation of the pipeline's route describes it.
 */
export function preview(pipeline: Pipeline): PostRoute {
  const { name, candidateKey, requestSchema } = pipeline;
  return {
    path: previewPath(pipeline.route),
    scope: 'preview',
    pipeline: name,
    isPrivate: true,
    method: 'POST',
    class: 'explain',
    audience: 'everyone',
    body: {
      limit: 'rankingBytes',
      entityTypes: undefined,
      schema: () => schemaRef(requestSchemaName(pipeline)),
      examples: () => ({ request: { summary: 'ids alone', value: exampleOf(requestSchema) } }),
    },
    handler:
      ({ drafts }) =>
      (exchange) =>
        withWholeBody(
          exchange,
          async (body) => {
            const { req, res } = exchange;
            const parameters = parametersOf(req);
            const draft = parameters.get('draft');
            const at = previewOf(parameters.get('at'));
            const rules = draft === null ? undefined : await drafts.preview(draft);
            const context = {
              ...pipelineContext(exchange, body),
              ...at,
              rules,
              leavesNothing: true,
            } as const;
            const { answer, report } = await pipeline.run(body, context);
            const parts = [
              ...(draft === null ? [] : [`draft=${draft}`]),
              ...(at.rulesAt === undefined ? [] : [`at=${timeText(at.rulesAt)}`]),
              // Stock, prices and features are those of today, whatever the time of the rules.
              `values=${timeText(Date.now())}`,
            ];
            res.setHeader(PREVIEW_HEADER, parts.join(', '));
            setReportHeaders(res, report);
            if (answer.events === undefined) sendJson(res, 200, answer);
            else await sendLargeJson(res, answer);
          },
          'candidates',
          candidateKey,
        ),
  };
}
