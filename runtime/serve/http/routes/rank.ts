import type { ServerResponse } from 'node:http';
import { degradationText, type Degradation } from '../../../request/pipeline/page/degraded.js';
import type { Pipeline, RequestContext, RunReport } from '../../../request/pipeline/types.js';
import type { Exchange } from '../exchange.js';
import { EXPERIMENT_HEADER, takenText } from '../experiment-header.js';
import { COERCED_HEADER, withWholeBody } from '../handle-body.js';
import { embedComponents } from '../openapi/embed-schema.js';
import { exampleOf } from '../openapi/example.js';
import { PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, RUN_PARAMETERS, schemaRef, type Operation, type Schema } from '../openapi/types.js';
import { AT, DRAFT } from '../openapi/preview-parameters.js';
import { misspeltText } from '../misspelt-text.js';
import { pipelineContext, requestSchemaName } from '../pipeline-request.js';
import { traceReport } from '../request-span.js';
import { sendJson, sendLargeJson } from '../respond.js';
import type { PostRoute, RouteParts } from '../route.js';

const TOLD = {
  rank: {
    summary: 'Rank',
    description:
      'Fills the entities of the request from the index, fetches features, scores the candidates and answers one page of ' +
      'them, best first.',
    answer: 'One page.',
  },
  score: {
    summary: 'Score',
    description: 'Fills the entities of the request from the index, fetches features and scores one entity.',
    answer: 'Its score.',
  },
};

/**
 * A pipeline's own route. Its anchor in the reference is `#operation/rank_<pipeline>`, or `#operation/score_<pipeline>`.
 */
export function rank(pipeline: Pipeline): PostRoute {
  const { name, task, candidateKey, requestSchema, answerSchema } = pipeline;
  const requestName = requestSchemaName(pipeline);
  const { summary, description } = TOLD[task];
  return {
    path: pipeline.route,
    scope: 'rank',
    pipeline: name,
    method: 'POST',
    class: 'ranking',
    limitMs: () => pipeline.limitMs,
    body: {
      limit: 'rankingBytes',
      entityTypes: undefined,
      schema: () => schemaRef(requestName),
      examples: () => ({ request: { summary: 'ids alone', value: exampleOf(requestSchema) } }),
    },
    handler: (parts) => {
      const run = rankingOf(pipeline, parts);
      return (exchange) => withWholeBody(exchange, (body) => run(exchange, body), 'candidates', candidateKey);
    },
    operation: () => ({
      ...answerOperation(pipeline),
      parameters: [...RUN_PARAMETERS, DRAFT, AT],
      operationId: `${task}_${name}`,
      summary: `${summary} with the pipeline ${name}`,
      description,
    }),
    schemas: () => [
      ...embedComponents(requestName, requestSchema),
      ...embedComponents(answerNameOf(pipeline), answerSchema),
    ],
  };
}

const answerNameOf = ({ name }: Pipeline): string => `answer_${name}`;

/** What the operations of the routes of a pipeline have in common. */
export function answerOperation(
  pipeline: Pipeline,
): Pick<Operation, 'tags' | 'responses'> & { readonly parameters: readonly Schema[] } {
  return {
    tags: ['Ranking'],
    parameters: RUN_PARAMETERS,
    responses: {
      200: jsonAnswer(
        TOLD[pipeline.task].answer,
        schemaRef(answerNameOf(pipeline)),
        exampleOf(pipeline.answerSchema),
        [
          'Millrace-Degraded',
          'Millrace-Experiment',
          'Millrace-Unknown-Fields',
          COERCED_HEADER,
          'Millrace-Preview',
        ],
      ),
      ...problemResponses(PIPELINE_PROBLEMS),
    },
  };
}

/** Runs the pipeline on a body, and answers. */
export function rankingOf(
  pipeline: Pipeline,
  parts: RunnerParts,
): (exchange: Exchange, body: unknown) => Promise<void> {
  const run = runnerOf(pipeline, parts);
  return async (exchange, body) => {
    const { answer, report } = await run(exchange, body);
    const { res } = exchange;
    exchange.startAnswer();
    setReportHeaders(res, report);
    if (answer.events === undefined) sendJson(res, 200, answer);
    else await sendLargeJson(res, answer);
  };
}

/** What runs a pipeline for a route. */
type RunnerParts = Pick<RouteParts, 'metrics' | 'logger' | 'watched'>;

/** Runs the pipeline on a body, and counts the run. */
export function runnerOf(
  pipeline: Pipeline,
  { metrics, logger, watched }: RunnerParts,
): (exchange: Exchange, body: unknown, more?: Partial<RequestContext>) => ReturnType<Pipeline['run']> {
  const { name } = pipeline;
  const count = metrics.pipeline(pipeline);
  const failed: RequestContext['failed'] = (experiments) => metrics.failed(experiments);
  /** The steps of which the log has a line already. */
  const logged = new Set<string>();
  const logOnce = ({ cause, value: step }: Degradation): void => {
    if (cause !== 'not_finite' || logged.has(step)) return;
    logged.add(step);
    logger.warn(
      { pipeline: name, step },
      'a rule writes scores that are not finite; the candidates keep their scores; further cases are only counted',
    );
  };
  return async (exchange, body, more) => {
    const { span } = exchange;
    span?.set({ 'millrace.pipeline': name });
    const context = { ...pipelineContext(exchange, body), failed, ...more };
    const run = await pipeline.run(body, context);
    const { report } = run;
    const take = context.leavesNothing === true ? undefined : watched?.choose?.(name);
    const { requestId } = context;
    if (take !== undefined && typeof body === 'object' && body !== null)
      exchange.res.once('close', () => take({ body, requestId }));
    count(report);
    if (span?.isRecorded === true) traceReport(span, report);
    report.degraded.forEach(logOnce);
    return run;
  };
}

/** Tells in headers what is unusual about an answer. */
export function setReportHeaders(res: ServerResponse, report: RunReport): void {
  if (report.degraded.length > 0)
    res.setHeader('Millrace-Degraded', report.degraded.map(degradationText).join(', '));
  if (report.experiments.length > 0) res.setHeader(EXPERIMENT_HEADER, takenText(report));
  const unknown = report.misspeltFields.length === 0 ? '' : misspeltText(report.misspeltFields);
  if (unknown !== '') res.setHeader('Millrace-Unknown-Fields', unknown);
  if (report.coerced !== undefined) res.setHeader(COERCED_HEADER, report.coerced.total);
  if (report.indexed !== undefined) {
    const { matched, taken } = report.indexed;
    res.setHeader('Millrace-Index-Candidates', `matched=${matched}, taken=${taken}`);
  }
  // Deprecated: the `skipped=` members of Millrace-Degraded contain the same information.
  if (report.skippedSteps.length > 0)
    res.setHeader('X-Millrace-Skipped-Steps', report.skippedSteps.join(', '));
}
