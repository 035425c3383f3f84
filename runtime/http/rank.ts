import type { RequestHandler } from 'express';
import type { Pipeline } from '../pipeline/types.js';
import type { HttpMetrics } from './metrics.js';
import { withBody } from './read-body.js';
import { rankingRequestId } from './request-id.js';
import { requestState, setRequestId } from './request-state.js';
import { sendJson } from './respond.js';

/** Answers a pipeline's route. */
export function rank(pipeline: Pipeline, metrics: HttpMetrics): RequestHandler {
  return async (req, res) => {
    const state = requestState(res);
    await withBody(req, async (body) => {
      setRequestId(res, rankingRequestId(body, state.id));
      const { answer, report } = await pipeline.run(body, { requestId: state.id, signal: state.gone });
      metrics.ranked(pipeline.name, report);
      // A ranking that went on without a step says so.
      if (report.skippedSteps.length > 0)
        res.setHeader('X-Millrace-Skipped-Steps', report.skippedSteps.join(', '));
      sendJson(res, 200, answer);
    });
  };
}
