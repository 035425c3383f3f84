import type { JsonValue } from '../../../ground/api/types.js';
import type { AnsweredValue, Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { RankedRow } from '../components/ranking.js';
import type { RankingRequest } from '../request/read-request.js';
import { readCell } from '../components/step-view.js';
import type { PipelineAnswer } from '../answer-types.js';

/**
 * The fields of the answer without events. The kernels of `plan.answer` have run.
 * @param page for a pipeline that scores: its one entity
 */
export function answerOf(
  plan: Plan,
  frame: Frame,
  request: RankingRequest,
  page: readonly RankedRow[],
): PipelineAnswer {
  if (plan.definition.task === 'rank') {
    return {
      ranked_candidates: page.map(({ row, score }) => ({
        candidate_id: request.ids[row] ?? '',
        ranked_score: score,
      })),
    };
  }
  return {
    [plan.candidateType.key]: request.ids[0] ?? '',
    score: finiteOrNull(page[0]?.score ?? NaN),
    ...Object.fromEntries(plan.answer.values.map((value) => [value.name, answeredValue(value, frame)])),
  };
}

/** A score as JSON; null if there is none. */
export function finiteOrNull(score: number): number | null {
  return Number.isFinite(score) ? score : null;
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
