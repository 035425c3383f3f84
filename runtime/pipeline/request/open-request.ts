import type { Plan } from '../../compile/plan.js';
import type { Pieces } from '../../core/pieces.js';
import type { Frame } from '../../frame/frame.js';
import { fillRequest } from './fill-request.js';
import { readRequest, type RankingRequest } from './read-request.js';

/** A checked request, and a frame that holds its ids. */
export interface OpenedRequest {
  readonly request: RankingRequest;
  readonly frame: Frame;
}

/**
 * Checks a body and writes the ids that it names into a frame.
 * @param requestId of a body that has none
 * @param now epoch milliseconds
 * @throws MillraceError invalid_body
 */
export function* openRequest(
  plan: Plan,
  body: unknown,
  requestId: string,
  now: () => number,
): Pieces<OpenedRequest> {
  const request = yield* readRequest(plan, body, requestId);
  const frame = plan.frames.acquire(request.ids.length, now());
  fillRequest(plan, frame, request);
  return { request, frame };
}
