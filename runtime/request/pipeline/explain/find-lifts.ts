import { setImmediate as nextTurn } from 'node:timers/promises';
import { isKnown, Status } from '../../../ground/api/status.js';
import { inTurns, type Pieces } from '../../../ground/core/pieces.js';
import { takeRows } from '../../../language/frame/copy-rows.js';
import { Frame } from '../../../language/frame/frame.js';
import type { Plan } from '../../compile/plan.js';
import { bestRows } from '../../ordering/best-rows.js';
import { saltedDraws } from '../../ordering/explore/draws.js';
import type { Ranking } from '../../ordering/ranking.js';
import { runComponents } from '../components/run-components.js';
import { setParams } from '../interleave/arm-frame.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import type { LiftOptions } from '../types.js';
import { placeOf, rowOf } from './compare-pair.js';
import type { ExplainedLift, ExplainedLifts } from './explanation.js';

/** The places in a distribution that are tried, as steps of 5 percentiles. */
const STEPS = 20;
/** The most values that are tried, and the most that are ranked again. */
const MOST_TRIED = 1000;
const MOST_PROOFS = 20;
/** A column is given up after so many values that the search promised and the ranking refused. */
const MOST_REFUSED = 3;

/** Another value of one column, and what it is in percentiles of the candidates. */
interface Change extends Omit<ExplainedLift, 'place'> {
  readonly slot: number;
}

/**
 * Finds the smallest change of each number of a candidate that lifts it to a place, in percentiles of the request's candidates.
 * All values are tried as rows of one frame, and compared with the scores of the others. Steps that look at other candidates
 * see all of these rows, so that is a guess. What is reported was ranked again: the candidates as they are, but for one value.
 * @throws MillraceError invalid_body if the request has no such candidate; component_failed, deadline_exceeded
 */
export async function findLifts(
  run: PlanRun,
  opened: OpenedRequest,
  ranking: Ranking,
  isInterleaved: boolean,
  { id, to }: LiftOptions,
): Promise<ExplainedLifts> {
  const { ids } = opened.request;
  const row = rowOf(opened.request, 'lift', id);
  const place = placeOf(ranking, row);
  const head = { candidate_id: id, to, place, tried: 0, lifts: [] };
  if (place !== null && place <= to) return { ...head, reason: `it is at place ${place}` };
  if (isInterleaved) return { ...head, reason: 'the order is that of two arms' };
  const { deadline } = run.stages;
  const { changes, leftOut } = await inTurns(changesOf(run.plan, opened.frame, row), () => deadline.check());
  const all = Int32Array.from(ids.keys());
  const others = ranking.rows.filter((other) => other !== row);
  const lowest = bestRows(others, ranking.scores, ranking.tiers, to)[to - 1];
  const reaches = ({ scores, tiers }: Ranking, at: number): boolean => {
    if (lowest === undefined) return true;
    const below = (tiers[at] ?? 0) - (ranking.tiers[lowest] ?? 0);
    return below < 0 || (below === 0 && (scores[at] ?? NaN) >= (ranking.scores[lowest] ?? NaN));
  };
  const tried = await rankAgain(run, opened, [...all, ...changes.map(() => row)], changes, all.length);
  const kept = new Set(tried.rows);
  const promising = changes
    .filter((_, i) => kept.has(all.length + i) && reaches(tried, all.length + i))
    .sort((a, b) => sizeOf(a) - sizeOf(b));
  const lifts: ExplainedLift[] = [];
  const refused = new Map<number, number>();
  let proofs = 0;
  for (const change of promising) {
    const { slot, ...told } = change;
    if ((refused.get(slot) ?? 0) >= MOST_REFUSED) continue;
    if (proofs++ === MOST_PROOFS) break;
    const found = placeOf(await rankAgain(run, opened, [...all], [change], row), row);
    const isLift = found !== null && found <= to;
    if (isLift) lifts.push({ ...told, place: found });
    refused.set(slot, isLift ? MOST_REFUSED : (refused.get(slot) ?? 0) + 1);
    await nextTurn();
  }
  return { ...head, tried: changes.length, ...(leftOut === 0 ? {} : { left_out: leftOut }), lifts };
}

const sizeOf = ({ percentile, new_percentile: after }: Change): number => Math.abs(after - percentile);

/** The columns whose values come from the request, the store or a retriever. */
function sourcesOf({ nodes, levels, retrieval }: Plan): Set<number> {
  return new Set([
    ...nodes.flatMap(({ ids, wants }) => [ids, ...wants.map(({ slot }) => slot)]),
    ...levels.flatMap(({ features }) => features.flatMap(({ wants }) => wants.map(({ slot }) => slot))),
    ...(retrieval?.retrievers.flatMap(({ outputs }) => [...outputs.values()]) ?? []),
  ]);
}

/** All changes of one value of a row to values of other candidates. @returns with the number of columns that are left out */
function* changesOf(plan: Plan, frame: Frame, row: number): Pieces<{ changes: Change[]; leftOut: number }> {
  const sources = sourcesOf(plan);
  const changes: Change[] = [];
  let leftOut = 0;
  for (const { name, slot } of plan.shown.candidate) {
    const column = frame.columns[slot];
    const isOpen = sources.has(slot) && plan.layout.columns[slot]?.isPrivate !== true;
    if (!isOpen || column?.kind !== 'number' || !isKnown(column.status[row])) continue;
    yield;
    const value = column.values[row] ?? NaN;
    const known = column.values.slice(0, frame.count).filter((_, at) => isKnown(column.status[at]));
    const values = valuesOf(known.sort()).filter((other) => other !== value);
    if (changes.length + values.length > MOST_TRIED) {
      leftOut++;
      continue;
    }
    const percentile = percentileOf(known, value);
    for (const other of values)
      changes.push({
        slot,
        name,
        value,
        percentile,
        new_value: other,
        new_percentile: percentileOf(known, other),
      });
  }
  return { changes, leftOut };
}

/** The different values at every fifth percentile of a column, by nearest rank: no value that no candidate has. */
function valuesOf(sorted: Float64Array): number[] {
  const ranks = Array.from({ length: STEPS + 1 }, (_, i) =>
    Math.max(1, Math.ceil((i / STEPS) * sorted.length)),
  );
  return [...new Set(ranks.map((rank) => sorted[rank - 1] ?? NaN))];
}

/** The share of values below one, with half of those equal to it, from 0 to 100. */
function percentileOf(sorted: Float64Array, value: number): number {
  const [first, last] = [sorted.indexOf(value), sorted.lastIndexOf(value)];
  return (50 * (first + last + 1)) / sorted.length;
}

/**
 * Ranks candidates again, without reading them again.
 * @param rows for each candidate, its row in the frame of the request
 * @param changes the values of the candidates from `first` on, one each
 */
async function rankAgain(
  { plan, services, stages }: PlanRun,
  { request, frame: from }: OpenedRequest,
  rows: readonly number[],
  changes: readonly Change[],
  first: number,
): Promise<Ranking> {
  const frame = new Frame(plan.layout);
  frame.reset(rows.length, from.now);
  frame.preview = from.preview;
  frame.rules = from.rules;
  frame.requestId = from.requestId;
  frame.salt = from.salt;
  frame.eventsSince = from.eventsSince;
  frame.histories.push(...from.histories);
  const taken = Int32Array.from(rows);
  for (const slot of sourcesOf(plan)) {
    const [theirs, own] = [from.columns[slot], frame.columns[slot]];
    if (theirs === undefined || own === undefined) continue;
    if (theirs.stride === 0) frame.columns[slot] = theirs;
    else takeRows(theirs, taken, own);
  }
  for (const [i, { slot, new_value: value }] of changes.entries()) {
    const column = frame.number(slot);
    column.values[first + i] = value;
    column.status[first + i] = Status.present;
  }
  setParams(plan, frame);
  const { exploreSalt = '', onHeld } = services;
  // Ids of candidates differ.
  const ids = rows.map((row, i) => (i < request.ids.length ? (request.ids[row] ?? '') : `${i}\0`));
  const { ranking } = await runComponents(plan, frame, ids, {
    deadline: stages.deadline,
    isRehearsal: true,
    onHeld,
    page: { size: request.paging.size, first: request.paging.start },
    draws: exploreSalt === '' ? undefined : saltedDraws(plan, exploreSalt, request.requestId),
  });
  return ranking;
}
