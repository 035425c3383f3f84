import type { StoreFailure } from '../../../ground/api/error-codes.js';
import { inTurns } from '../../../ground/core/pieces.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import type { Plan } from '../../compile/plan.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { PipelineAnswer } from '../answer-types.js';
import type { RankedRow, Ranking } from '../components/ranking.js';
import type { Trace } from '../components/trace.js';
import type { RankingRequest } from '../request/read-request.js';
import { answerOf } from './answer.js';
import { eventsOf } from './events.js';
import { cutPage } from './page.js';

/** The answer, and the rows of its page. */
export interface AnsweredPage {
  readonly page: readonly RankedRow[];
  readonly answer: PipelineAnswer;
}

/**
 * Orders the candidates, cuts the page and writes the answer, with events if the request asks for them.
 * @param lossCode why the candidates are unranked; undefined if they are ranked
 * @param hasher replaces ids in events
 * @param check called before each slice of a long answer; an exception ends the request
 */
export async function answerPage(
  plan: Plan,
  frame: Frame,
  request: RankingRequest,
  ranking: Ranking,
  trace: Trace | undefined,
  lossCode: StoreFailure | undefined,
  hasher: IdHasher,
  check: () => void,
): Promise<AnsweredPage> {
  const page = cutPage(ranking, request.paging);
  const computing = runKernels(plan.answer.kernels, frame, check);
  if (computing !== undefined) await computing;
  const answer = answerOf(plan, frame, request, page);
  if (trace === undefined || !request.includeEvents) return { page, answer };
  const events = await inTurns(eventsOf(plan, frame, ranking, request, page, trace, lossCode, hasher), check);
  return { page, answer: { ...answer, events } };
}
