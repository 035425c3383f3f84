import type { Request, Response } from 'express';
import type { RequestContext } from '../../request/pipeline/types.js';
import { askedArms } from './experiment-header.js';
import { isSafeRequestId, rankingRequestId } from './request-id.js';
import { requestState, setRequestId } from './request-state.js';

/** The headers that may contain the id of a run. The first one with a usable value counts. */
const RUN_ID_HEADERS = ['x-millrace-run-id', 'x-wyvern-run-id'];

/** The name of the schema of a pipeline's body, among the components of the OpenAPI document. */
export const requestSchemaName = (pipeline: string): string => `request_${pipeline}`;

/** Returns what a pipeline knows about a request besides its body. An id in the body becomes the id of the request. */
export function pipelineContext(req: Request, res: Response, body: unknown): RequestContext {
  const state = requestState(res);
  setRequestId(res, rankingRequestId(body, state.id));
  const runId = RUN_ID_HEADERS.map((name) => req.headers[name]).find(isSafeRequestId);
  return {
    requestId: state.id,
    deadline: state.deadline,
    span: state.span,
    arms: askedArms(req, res),
    ...(runId === undefined ? {} : { runId }),
  };
}
