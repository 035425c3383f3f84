import type { Request, Response } from 'express';
import type { Pipeline, RequestContext } from '../../request/pipeline/types.js';
import { askedArms, EXPERIMENT_HEADER } from './experiment-header.js';
import { isSafeRequestId, rankingRequestId } from './request-id.js';
import { requestState, setRequestId } from './request-state.js';

/** As Node.js names it. */
const ARMS_HEADER = EXPERIMENT_HEADER.toLowerCase();
/** The headers that may contain the id of a run. The first one with a usable value counts. */
const RUN_ID_HEADERS = ['x-millrace-run-id', 'x-wyvern-run-id'];

/** The name of the schema of a pipeline's body, among the components of the OpenAPI document. A ranking has two kinds of body. */
export const requestSchemaName = ({ name, task }: Pick<Pipeline, 'name' | 'task'>): string =>
  `${task === 'rank' ? 'body' : 'request'}_${name}`;

/** Returns what a pipeline knows about a request besides its body. An id in the body becomes the id of the request. */
export function pipelineContext(req: Request, res: Response, body: unknown): RequestContext {
  const state = requestState(res);
  setRequestId(res, rankingRequestId(body, state.id));
  const runId = runIdOf(req);
  return {
    requestId: state.id,
    deadline: state.deadline,
    span: state.span,
    arms: req.headers[ARMS_HEADER] === undefined ? undefined : askedArms(req, res),
    ...(runId === undefined ? {} : { runId }),
  };
}

function runIdOf({ headers }: Request): string | undefined {
  for (const name of RUN_ID_HEADERS) {
    const id = headers[name];
    if (isSafeRequestId(id)) return id;
  }
  return undefined;
}
