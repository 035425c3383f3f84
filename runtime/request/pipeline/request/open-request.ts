import { Status } from '../../../ground/api/status.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { Plan, Retrieval } from '../../compile/plan.js';
import { soon, type Pieces } from '../../../ground/core/pieces.js';
import { IdList } from '../../../ground/core/parse-ids.js';
import { isJsonObject, own } from '../../../ground/core/value-fit.js';
import type { Frame } from '../../../language/frame/frame.js';
import { setParams } from '../interleave/arm-frame.js';
import { PlanRun, type OpenedRequest } from '../plan-run.js';
import type { RequestContext } from '../types.js';
import { bring, withCandidates } from './bring.js';
import { findInIndex, wantedFromIndex } from './index-candidates.js';
import { relax } from './lax-body.js';
import { fillRetrieved, retrieve } from './retrieve.js';
import { readRequest, type RankingRequest } from './read-request.js';

/**
 * The stage `read`: checks the body and writes its ids into a frame. If it asks for candidates of the index, or sends none
 * to a pipeline with retrievers, they are found first.
 * @param keep returns the ids of those candidates of a body that the plan of a condition keeps
 * @throws MillraceError invalid_body, deadline_exceeded, as `findInIndex` and `retrieve`
 */
export async function readBody(
  run: PlanRun,
  keep: (filter: Plan, body: JsonObject, run: PlanRun) => Promise<readonly string[]>,
): Promise<OpenedRequest> {
  const { plan, services, stages } = run;
  const { deadline } = stages;
  deadline.check(); // the request may have waited beyond its deadline
  stages.enter('read');
  if (services.isLax === true) await relax(run);
  const { body } = run.asked;
  const list = isJsonObject(body) ? own(body, 'candidates') : undefined;
  const asksIndex = isJsonObject(list) && !(list instanceof IdList);
  const wanted = asksIndex ? wantedFromIndex(plan, body) : undefined;
  let opened: OpenedRequest;
  if (plan.retrieval !== undefined && isJsonObject(body) && (list ?? undefined) === undefined)
    opened = await openRetrieved(run, body, plan.retrieval);
  else if (wanted === undefined) opened = await openBody(run, body);
  else {
    const { store, index, now } = services;
    if (index === undefined) throw new Error('candidates cannot come from the index here');
    const search = {
      store,
      now,
      keep: (filter: Plan, some: JsonObject) => keep(filter, some, run),
      ...index,
    };
    const found = await findInIndex(plan, body as JsonObject, wanted, search, deadline);
    opened = { ...(await openBody(run, found.body)), indexed: found.found, body: found.body };
  }
  // An empty list that was sent stays empty, and a caller that cuts the page shows only what it sent.
  const { page, rules } = run.asked.context;
  const isOpen = (plan.brings?.() === true || rules !== undefined) && page === undefined;
  const mayBring = isOpen && (opened.body !== undefined || opened.request.ids.length > 0);
  if (mayBring && isJsonObject(body)) opened = await withBrought(run, opened.body ?? body, opened);
  stages.leave();
  return opened;
}

/** Adds the candidates that pins bring. */
async function withBrought(run: PlanRun, body: JsonObject, opened: OpenedRequest): Promise<OpenedRequest> {
  const { plan } = run;
  const bare = await openBody(run, { ...body, candidates: [] });
  const brought = await bring(run, bare, opened.request);
  if (brought === undefined) return opened;
  const filled = withCandidates(body, plan.candidateType.key, brought.ids);
  plan.frames.release(opened.frame);
  const whole = await openBody(run, filled);
  if (opened.retrieved !== undefined) fillRetrieved(plan, whole.frame, opened.retrieved);
  return { ...opened, ...whole, body: filled, brought };
}

/** Finds the candidates of a body without them, and checks it with them. */
async function openRetrieved(run: PlanRun, body: JsonObject, retrieval: Retrieval): Promise<OpenedRequest> {
  const { plan, services, asked, stages } = run;
  const own = new PlanRun(retrieval.plan, services, asked, stages);
  const retrieved = await retrieve(own, await openBody(own, { ...body, candidates: [] }), retrieval);
  // As `parseIds` makes of a body with ids alone, so that nothing is made for each candidate.
  const ids = new IdList(plan.candidateType.key, retrieved.ids, true) as unknown as JsonValue;
  const filled: JsonObject = { ...body, candidates: ids };
  const opened = await openBody(run, filled);
  fillRetrieved(plan, opened.frame, retrieved);
  return { ...opened, retrieved, body: filled };
}

/** Checks a body with a list of candidates. */
export function openBody(run: PlanRun, body: unknown): OpenedRequest | Promise<OpenedRequest> {
  return soon(openRequest(run.plan, body, run.services.now, run.asked.context), () =>
    run.stages.deadline.check(),
  );
}

/**
 * Checks a body and writes its ids into a frame.
 * @param now epoch milliseconds
 * @param context its request id is used if the body has none
 * @throws MillraceError invalid_body
 */
export function* openRequest(
  plan: Plan,
  body: unknown,
  now: () => number,
  { requestId, rulesAt, rules, heard, page }: RequestContext,
): Pieces<OpenedRequest> {
  const read = yield* readRequest(plan, body, requestId);
  const request = page === undefined ? read : { ...read, paging: page };
  const frame = plan.frames.acquire(request.ids.length, now());
  frame.rules = plan.wider?.rules;
  if (rulesAt !== undefined || rules !== undefined)
    frame.preview = { at: rulesAt, rules: rules?.lists, heard };
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
      if (request.places !== undefined) frame.places = { slot: node.ids, places: request.places };
      continue;
    }
    const id = node.name === 'request' ? request.requestId : request.entityIds.get(node.name);
    if (id === undefined) continue;
    column.values[0] = id;
    column.status[0] = Status.present;
  }
}
