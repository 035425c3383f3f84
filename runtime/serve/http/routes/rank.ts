import { degradationText, type Degradation } from '../../../request/pipeline/page/degraded.js';
import type { Pipeline, RequestContext } from '../../../request/pipeline/types.js';
import { EXPERIMENT_HEADER, takenText } from '../experiment-header.js';
import { withWholeBody } from '../handle-body.js';
import { embedComponents } from '../openapi/embed-schema.js';
import { exampleOf } from '../openapi/example.js';
import { PIPELINE_PROBLEMS, problemResponses } from '../openapi/problems.js';
import { jsonAnswer, RUN_PARAMETERS, schemaRef } from '../openapi/types.js';
import { misspeltText } from '../misspelt-text.js';
import { pipelineContext, requestSchemaName } from '../pipeline-request.js';
import { traceReport } from '../request-span.js';
import { requestState, startAnswer } from '../request-state.js';
import { sendJson, sendLargeJson } from '../respond.js';
import type { PostRoute } from '../route.js';

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
  const { name, task, requestSchema, answerSchema } = pipeline;
  const requestName = requestSchemaName(name);
  const answerName = `answer_${name}`;
  const { summary, description, answer: told } = TOLD[task];
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
    handler: ({ metrics, logger }) => {
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
      return async (req, res) => {
        const work = async (body: unknown): Promise<void> => {
          const { span } = requestState(res);
          span?.set({ 'millrace.pipeline': name });
          const { answer, report } = await pipeline.run(body, {
            ...pipelineContext(req, res, body),
            failed,
          });
          count(report);
          if (span?.isRecorded === true) traceReport(span, report);
          report.degraded.forEach(logOnce);
          startAnswer(res);
          if (report.degraded.length > 0)
            res.setHeader('Millrace-Degraded', report.degraded.map(degradationText).join(', '));
          if (report.experiments.length > 0) res.setHeader(EXPERIMENT_HEADER, takenText(report));
          const unknown = misspeltText(report.misspeltFields);
          if (unknown !== '') res.setHeader('Millrace-Unknown-Fields', unknown);
          if (report.indexed !== undefined) {
            const { matched, taken } = report.indexed;
            res.setHeader('Millrace-Index-Candidates', `matched=${matched}, taken=${taken}`);
          }
          // Deprecated: the `skipped=` members of Millrace-Degraded contain the same information.
          if (report.skippedSteps.length > 0)
            res.setHeader('X-Millrace-Skipped-Steps', report.skippedSteps.join(', '));
          if (answer.events === undefined) sendJson(res, 200, answer);
          else await sendLargeJson(res, answer);
        };
        await withWholeBody(req, work, 'candidates');
      };
    },
    operation: () => ({
      operationId: `${task}_${name}`,
      tags: ['Ranking'],
      summary: `${summary} with the pipeline ${name}`,
      description,
      parameters: RUN_PARAMETERS,
      responses: {
        200: jsonAnswer(told, schemaRef(answerName), exampleOf(answerSchema), [
          'Millrace-Degraded',
          'Millrace-Experiment',
          'Millrace-Unknown-Fields',
        ]),
        ...problemResponses(PIPELINE_PROBLEMS),
      },
    }),
    schemas: () => [
      ...embedComponents(requestName, requestSchema),
      ...embedComponents(answerName, answerSchema),
    ],
  };
}
