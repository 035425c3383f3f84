import { Status } from '../../../ground/api/status.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { Plan } from '../../compile/plan.js';
import { soon, type Pieces } from '../../../ground/core/pieces.js';
import { isJsonObject, own } from '../../../ground/core/value-fit.js';
import type { Frame } from '../../../language/frame/frame.js';
import { setParams } from '../interleave/arm-frame.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import { findInIndex, wantedFromIndex } from './index-candidates.js';
import { readRequest, type RankingRequest } from './read-request.js';

/**
 * The stage `read`: checks the body and writes its ids into a frame. If it asks for candidates of the index, they are found
 * first.
 * @param keep returns the ids of those candidates of a body that the plan of a condition keeps
 * @throws MillraceError invalid_body, deadline_exceeded, as `findInIndex`
 */
export async function readBody(
  run: PlanRun,
  keep: (filter: Plan, body: JsonObject, run: PlanRun) => Promise<readonly string[]>,
): Promise<OpenedRequest> {
  const { plan, services, stages } = run;
  const { body } = run.asked;
  const { deadline } = stages;
  deadline.check(); // the request may have waited beyond its deadline
  stages.enter('read');
  const asksIndex = isJsonObject(body) && isJsonObject(own(body, 'candidates'));
  const wanted = asksIndex ? wantedFromIndex(plan, body) : undefined;
  let opened: OpenedRequest;
  if (wanted === undefined) opened = await openBody(run, body);
  else {
    const { store, index } = services;
    if (index === undefined) throw new Error('candidates cannot come from the index here');
    const search = { store, keep: (filter: Plan, some: JsonObject) => keep(filter, some, run), ...index };
    const found = await findInIndex(plan, body as JsonObject, wanted, search, deadline);
    opened = { ...(await openBody(run, found.body)), indexed: found.found, body: found.body };
  }
  stages.leave();
  return opened;
}

/** Checks a body with a list of candidates. */
export function openBody(run: PlanRun, body: unknown): OpenedRequest | Promise<OpenedRequest> {
  const { requestId, rulesAt } = run.asked.context;
  return soon(openRequest(run.plan, body, requestId, run.services.now, rulesAt), () =>
    run.stages.deadline.check(),
  );
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
  if (plan.open !== undefined) setParams(plan, frame);
  return { request, frame };
}

/** Writes the ids in the request into the frame: those of the candidates and of the other entities. */
export function fillRequest(plan: Plan, frame: Frame, request: RankingRequest): void {
  for (const node of plan.nodes) {
    if (node.parent !== undefined) continue;
    const column = frame.text(node.ids);
    if (node.scope === 'candidate') {
      for (let row = 0; row < request.ids.length; row++) {
        column.values[row] = request.ids[row] ?? '';
        column.status[row] = Status.present;
      }
      continue;
    }
    const id = node.name === 'request' ? request.requestId : request.entityIds.get(node.name);
    if (id === undefined) continue;
    column.values[0] = id;
    column.status[0] = Status.present;
  }
}
