import type { JsonObject } from '../../../ground/api/types.js';
import type { Plan } from '../../compile/plan.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { Frame } from '../../../language/frame/frame.js';
import { fillRequest } from './fill-request.js';
import type { IndexedCandidates } from './index-candidates.js';
import { readRequest, type RankingRequest } from './read-request.js';

/** A checked request, and a frame with its ids. */
export interface OpenedRequest {
  readonly request: RankingRequest;
  readonly frame: Frame;
  /** Set if the candidates come from the index. */
  readonly indexed?: IndexedCandidates;
  /** The body with the candidates of the index. */
  readonly body?: JsonObject;
}

/**
 * Checks a body and writes its ids into a frame.
 * @param requestId used if the body has no request id
 * @param now epoch milliseconds
 * @param rulesAt the time at which dated rules are looked up; by default `now`
 * @throws MillraceError invalid_body
 */
export function* openRequest(
  plan: Plan,
  body: unknown,
  requestId: string,
  now: () => number,
  rulesAt?: number,
): Pieces<OpenedRequest> {
  const request = yield* readRequest(plan, body, requestId);
  const frame = plan.frames.acquire(request.ids.length, now());
  frame.rulesAt = rulesAt;
  fillRequest(plan, frame, request);
  setParams(plan, frame);
  return { request, frame };
}

/** Writes the values of the params that can change. */
export function setParams({ open }: Plan, frame: Frame): void {
  if (open === undefined) return;
  for (const { slot, value } of open.set) frame.number(slot).values[0] = value;
}
