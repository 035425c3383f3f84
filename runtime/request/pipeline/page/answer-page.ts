import type { StoreFailure } from '../../../ground/api/error-codes.js';
import type { JsonValue } from '../../../ground/api/types.js';
import type { AnsweredValue, Plan } from '../../compile/plan.js';
import { PLAIN_IDS } from '../../../ground/core/id-hasher.js';
import { inTurns } from '../../../ground/core/pieces.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import type { Frame } from '../../../language/frame/frame.js';
import { finiteOrNull, type PipelineAnswer, type RankedCandidate } from '../answer-types.js';
import type { RankedRow, Ranking } from '../../ordering/ranking.js';
import { readCell } from '../components/step-view.js';
import type { Trace } from '../components/trace.js';
import type { AnsweredPage, OpenedRequest, PlanRun } from '../plan-run.js';
import type { Paging, RankingRequest } from '../request/read-request.js';
import { eventsOf } from './events.js';

/**
 * Orders the candidates, cuts the page and writes the answer, with events if the request asks for them.
 * @param lossCode why the candidates are unranked; undefined if they are ranked
 */
export function answerPage(
  { plan, services, stages, asked }: PlanRun,
  { request, frame }: OpenedRequest,
  ranking: Ranking,
  trace: Trace | undefined,
  lossCode: StoreFailure | undefined,
): AnsweredPage | Promise<AnsweredPage> {
  const check = (): void => stages.deadline.check();
  const page = cutPage(ranking, request.paging);
  const finish = (): AnsweredPage | Promise<AnsweredPage> => {
    // Who says which page is seen cuts it from the whole order.
    const rows = asked.context.page === undefined ? page : ranking.slice(0, Infinity);
    const answer = answerOf(plan, frame, request, ranking, rows);
    if (trace === undefined || !request.includeEvents) return { page, answer };
    const hasher = services.hasher ?? PLAIN_IDS;
    const ranked = { plan, frame, request, ranking, page, trace, lossCode, hasher };
    return inTurns(eventsOf(ranked), check).then((events) => ({ page, answer: { ...answer, events } }));
  };
  const computing = runKernels(plan.answer.kernels, frame, check);
  return computing === undefined ? finish() : computing.then(finish);
}

/** Cuts the page that the request asks for: the ranks max(0, start) … max(0, start + size) − 1. It is empty past the end. */
export function cutPage(ranking: Ranking, { start, size }: Paging): RankedRow[] {
  return ranking.slice(Math.max(0, start), Math.max(0, start + size));
}

/**
 * The fields of the answer without events. The kernels of `plan.answer` have run.
 * @param page for a pipeline that scores: its one entity
 */
function answerOf(
  plan: Plan,
  frame: Frame,
  request: RankingRequest,
  ranking: Ranking,
  page: readonly RankedRow[],
): PipelineAnswer {
  if (plan.definition.task === 'rank') {
    const candidate = ({ row, score }: RankedRow): RankedCandidate => ({
      candidate_id: request.ids[row] ?? '',
      ranked_score: score,
    });
    const { labelOf, contents } = ranking;
    const labelled = (one: RankedRow): RankedCandidate => {
      const sponsored = labelOf?.(one.row);
      return sponsored === undefined ? candidate(one) : { ...candidate(one), sponsored };
    };
    return {
      ranked_candidates: page.map(labelOf === undefined ? candidate : labelled),
      ...(contents.length === 0 ? {} : { content: contents }),
    };
  }
  return {
    [plan.candidateType.key]: request.ids[0] ?? '',
    score: finiteOrNull(page[0]?.score ?? NaN),
    ...Object.fromEntries(plan.answer.values.map((value) => [value.name, answeredValue(value, frame)])),
  };
}

/** The value of an expression of the scored entity; null if it is unknown for any reason. */
function answeredValue({ slot, type }: AnsweredValue, frame: Frame): JsonValue {
  const { value } = readCell(frame, slot, 0);
  if (value === undefined) return null;
  const isBool = (type.kind === 'list' ? type.of.kind : type.kind) === 'bool';
  const one = (element: number | string): JsonValue => {
    if (typeof element === 'string') return element;
    return isBool && !Number.isNaN(element) ? element !== 0 : finiteOrNull(element);
  };
  return typeof value === 'object' ? value.map(one) : one(value);
}
