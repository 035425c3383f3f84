import type { IncomingMessage } from 'node:http';
import type { Pipeline, RequestContext } from '../../request/pipeline/types.js';
import type { Exchange } from './exchange.js';
import { askedArms, EXPERIMENT_HEADER } from './experiment-header.js';
import { isSafeRequestId, rankingRequestId } from './request-id.js';

/** As Node.js names it. */
const ARMS_HEADER = EXPERIMENT_HEADER.toLowerCase();
/** The headers that may contain the id of a run. The first one with a usable value counts. */
const RUN_ID_HEADERS = ['x-millrace-run-id', 'x-wyvern-run-id'];

/** The name of the schema of a pipeline's body, among the components of the OpenAPI document. A ranking has two kinds of body. */
export const requestSchemaName = ({ name, task }: Pick<Pipeline, 'name' | 'task'>): string =>
  `${task === 'rank' ? 'body' : 'request'}_${name}`;

/** Returns what a pipeline knows about a request besides its body. An id in the body becomes the id of the request. */
export function pipelineContext(exchange: Exchange, body: unknown): RequestContext {
  const { req, id, deadline, span, key } = exchange;
  const requestId = rankingRequestId(body, id);
  if (requestId !== id) exchange.setId(requestId);
  const runId = runIdOf(req);
  const asked = req.headers[ARMS_HEADER];
  const arms = asked === undefined ? undefined : askedArms(String(asked), key);
  return { requestId, deadline, span, arms, ...(runId === undefined ? {} : { runId }) };
}

function runIdOf({ headers }: IncomingMessage): string | undefined {
  for (const name of RUN_ID_HEADERS) {
    const id = headers[name];
    if (isSafeRequestId(id)) return id;
  }
  return undefined;
}
