import type { Request, RequestHandler } from 'express';
import { degradationText } from '../pipeline/page/degraded.js';
import type { Pipeline, RequestContext } from '../pipeline/types.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import { withBody } from './read-body.js';
import { isSafeRequestId, rankingRequestId } from './request-id.js';
import { requestState, setRequestId, type RequestState } from './request-state.js';
import { sendJson, sendLargeJson } from './respond.js';

/** Spellings of the header that names a run; the first that is there and can be used wins. */
const RUN_ID_HEADERS = ['x-millrace-run-id', 'x-wyvern-run-id'];

/** Answers a pipeline's route. */
export function rank(pipeline: Pipeline, metrics: HttpMetrics): RequestHandler {
  return async (req, res) => {
    const state = requestState(res);
    await withBody(req, async (body) => {
      setRequestId(res, rankingRequestId(body, state.id));
      const { answer, report } = await pipeline.run(body, contextOf(req, state));
      metrics.ranked(pipeline.name, report);
      if (report.degraded.length > 0)
        res.setHeader('Millrace-Degraded', report.degraded.map(degradationText).join(', '));
      // Deprecated: members `skipped=` of Millrace-Degraded say the same.
      if (report.skippedSteps.length > 0)
        res.setHeader('X-Millrace-Skipped-Steps', report.skippedSteps.join(', '));
      if (answer.events === undefined) sendJson(res, 200, answer);
      else await sendLargeJson(res, answer);
    });
  };
}

/** Answers why a pipeline's route answers as it does. Such requests are no rankings: the pipeline's metrics leave them out. */
export function explain(pipeline: Pipeline): RequestHandler {
  return async (req, res) => {
    const state = requestState(res);
    await withBody(req, async (body) => {
      setRequestId(res, rankingRequestId(body, state.id));
      await sendLargeJson(res, await pipeline.explain(body, contextOf(req, state)));
    });
  };
}

function contextOf(req: Request, { id, gone }: RequestState): RequestContext {
  const runId = RUN_ID_HEADERS.map((name) => req.headers[name]).find(isSafeRequestId);
  return { requestId: id, signal: gone, ...(runId === undefined ? {} : { runId }) };
}
