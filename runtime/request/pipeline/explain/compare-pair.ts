import { MillraceError } from '../../../ground/api/errors.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { Ranking } from '../../ordering/ranking.js';
import { finiteOrNull } from '../answer-types.js';
import type { StepReport } from '../components/run-components.js';
import type { RankingRequest } from '../request/read-request.js';
import { Accounts } from './accounts.js';
import { changesOf } from './changes.js';
import type { ComparedCandidate, ExplainedPair } from './explanation.js';
import type { FinishedRun } from './finished-run.js';

/**
 * Tells why a candidate has another place than another one, while the frame still holds the request.
 * @param ids of the candidate, and of the one that it is compared with
 * @throws MillraceError invalid_body if the request has no such candidate, or if they are the same
 */
export function* comparePair(run: FinishedRun, ids: readonly [string, string]): Pieces<ExplainedPair> {
  const { trace, ranking, steps } = run;
  const [row, other] = [rowOf(run.request, 'compare', ids[0]), rowOf(run.request, 'with', ids[1])];
  if (row === other)
    throw new MillraceError(
      'invalid_body',
      'the parameters compare and with: expected two different candidates',
    );
  const candidates = [comparedOf(run, row), comparedOf(run, other)] as const;
  const removed = candidates.find(({ place }) => place === null);
  if (removed !== undefined) return { candidates, reason: whyRemoved(run, removed.candidate_id) };
  const order = sideOf(ranking.tiers, row, other);
  // The step after which the lower one stayed below.
  const parting =
    order === 0
      ? undefined
      : steps.findLast(({ before }) => before !== undefined && sideOf(before.tiers, row, other) !== order);
  const reports = parting === undefined ? steps : steps.slice(0, steps.indexOf(parting));
  const below = ids[order > 0 ? 0 : 1];
  const split =
    parting === undefined ? {} : { split: { step: parting.step.number, as: parting.step.as, below } };
  const scores = parting?.before?.scores ?? ranking.scores;
  const difference = (scores[row] ?? NaN) - (scores[other] ?? NaN);
  const [setter, otherSetter] = [setterOf(reports, row), setterOf(reports, other)];
  const head = { candidates, ...split };
  if (setter !== otherSetter) {
    const later = reports.findLast((report) => report === setter || report === otherSetter);
    const reason = `only one of them has the score of step ${later?.step.number ?? 0}, ${later?.step.as ?? ''}`;
    return { ...head, reason };
  }
  if (!Number.isFinite(difference))
    return { ...head, reason: 'the difference of their scores is not a finite number' };
  const after = reports.slice(setter === undefined ? 0 : reports.indexOf(setter) + 1);
  const changed = after.flatMap(({ step }) => {
    const amount = trace.changes.reduce((sum, change) => {
      if (change.step !== step || (change.row !== row && change.row !== other)) return sum;
      return sum + (change.row === row ? 1 : -1) * (change.after - change.before);
    }, 0);
    return amount === 0 ? [] : [{ step: step.number, as: step.as, amount }];
  });
  const accounts = yield* new Accounts(run).of(Int32Array.of(row), other, reports);
  return { ...head, difference, changed, contributions: accounts.get(row) ?? [] };
}

/** Above 0 if the first row is below the other one, whatever their scores. */
function sideOf(tiers: Int32Array, row: number, other: number): number {
  return Math.sign((tiers[row] ?? 0) - (tiers[other] ?? 0));
}

/** @throws MillraceError invalid_body if the request has no such candidate */
export function rowOf({ ids }: Pick<RankingRequest, 'ids'>, parameter: string, id: string): number {
  const row = ids.indexOf(id);
  if (row >= 0) return row;
  throw new MillraceError(
    'invalid_body',
    `the parameter ${parameter}: the request has no candidate \`${id.slice(0, 200)}\``,
  );
}

/** From 1; null if a step removed the candidate. */
export function placeOf(ranking: Ranking, row: number): number | null {
  const place = ranking.slice(0, ranking.rows.length).findIndex((one) => one.row === row) + 1;
  return place === 0 ? null : place;
}

function comparedOf(run: FinishedRun, row: number): ComparedCandidate {
  const { request, ranking } = run;
  return {
    candidate_id: request.ids[row] ?? '',
    place: placeOf(ranking, row),
    score: finiteOrNull(ranking.scores[row] ?? 0),
    changes: changesOf(run, [row]).get(row) ?? [],
  };
}

function whyRemoved({ steps, request }: FinishedRun, id: string): string {
  const row = request.ids.indexOf(id);
  const by = steps.find(({ removed }) => removed.includes(row))?.step;
  return `step ${by?.number ?? 0}, ${by?.as ?? ''}, removed \`${id}\``;
}

/** The last step that set the score of a row. */
function setterOf(reports: readonly StepReport[], row: number): StepReport | undefined {
  return reports.findLast(({ scored }) => scored?.rows.includes(row) === true && !scored.left.includes(row));
}
