import {
  compareOrders,
  kendallTau,
  rankBiasedOverlap,
  type OrderDiff,
} from '../../ground/core/compare-rankings.js';
import { quantile } from '../../ground/core/statistics.js';
import type { ExplainedCandidate } from '../../request/pipeline/explain/explanation.js';
import { PAGE_PLACES, type PlacedId } from '../evaluation/report.js';
import type { ExplainedRanking } from './explain-whole.js';

/** A candidate that has another place in B than in A. */
export interface Move {
  readonly candidate: string;
  /** 1-based places. */
  readonly from: number;
  readonly to: number;
  /** The step that moved it; undefined if only candidates around it changed. */
  readonly step: string | undefined;
  /** What the step did, for people. */
  readonly why: string;
}

/** A candidate that only one of the rankings holds. */
export interface Lost {
  readonly candidate: string;
  /** Its place in the ranking that holds it. */
  readonly place: number;
  /** The filter of the other pipeline that removed it; undefined if it is not known. */
  readonly filter: string | undefined;
}

/** How the rankings of one request differ. */
export interface RankingDiff extends OrderDiff {
  /** The first places in A and in B. */
  readonly pages: readonly (readonly PlacedId[])[];
  readonly rbo: number;
  /** Undefined if it is not defined: fewer than two common candidates, or all tied. */
  readonly tau: number | undefined;
  readonly moves: readonly Move[];
  /** In A, not in B. */
  readonly removed: readonly Lost[];
  /** In B, not in A. */
  readonly added: readonly Lost[];
}

/** Compares the rankings of one request by A and B. */
export function compareExplained(
  a: ExplainedRanking,
  b: ExplainedRanking,
  { k, p }: { readonly k: number; readonly p: number },
): RankingDiff {
  const [idsA, idsB] = [a, b].map(({ ranked }) => ranked.map(({ candidate_id: id }) => id)) as [
    string[],
    string[],
  ];
  const inB = new Map(b.ranked.map((one) => [one.candidate_id, one]));
  const pairs = a.ranked.flatMap((before): [ExplainedCandidate, ExplainedCandidate][] => {
    const after = inB.get(before.candidate_id);
    return after === undefined ? [] : [[before, after]];
  });
  const orders = compareOrders(idsA, idsB, k);
  const scoreOf = ({ ranked_score: score }: ExplainedCandidate): number => score ?? -Infinity;
  return {
    ...orders,
    pages: [idsA, idsB].map((ids) => ids.slice(0, PAGE_PLACES).map((id) => ({ id }))),
    rbo: rankBiasedOverlap(idsA, idsB, p),
    tau: kendallTau(
      pairs.map(([before]) => scoreOf(before)),
      pairs.map(([, after]) => scoreOf(after)),
    ),
    moves: orders.isSame ? [] : movesOf(pairs, b.reads),
    removed: lost(a.ranked, new Set(idsB), b),
    added: lost(b.ranked, new Set(idsA), a),
  };
}

function lost(
  ranked: readonly ExplainedCandidate[],
  others: ReadonlySet<string>,
  { removedBy, filters }: ExplainedRanking,
): Lost[] {
  // An explanation lists only some of the removed ids. If one filter removed candidates, it removed all of them.
  const only = filters.length === 1 ? filters[0] : undefined;
  return ranked
    .filter(({ candidate_id: id }) => !others.has(id))
    .map(({ candidate_id: id, place }) => ({ candidate: id, place, filter: removedBy.get(id) ?? only }));
}

/** What the steps did to one candidate, by the step's name. */
interface Effects {
  readonly scores: ReadonlyMap<string, number>;
  /** Steps that placed the candidate, with what they did. */
  readonly placed: ReadonlyMap<string, string>;
}

function effectsOf({ changes }: ExplainedCandidate): Effects {
  const scores = new Map<string, number>();
  const placed = new Map<string, string>();
  for (const change of changes) {
    if ('pinned_to' in change) placed.set(change.as, `pinned it to ${change.pinned_to}`);
    else if ('put_below' in change) placed.set(change.as, 'put it below others');
    else if ('pin_lost' in change)
      placed.set(change.as, `pinned it to ${change.pin_lost}, which another pin took`);
    else if ('moved_to' in change)
      placed.set(
        change.as,
        change.moved_from === undefined
          ? `moved it to ${change.moved_to}`
          : `moved it from ${change.moved_from} to ${change.moved_to}`,
      );
    else {
      const { before, after } = change;
      scores.set(change.as, (scores.get(change.as) ?? 0) + (after ?? 0) - (before ?? 0));
    }
  }
  return { scores, placed };
}

function movesOf(
  pairs: readonly (readonly [ExplainedCandidate, ExplainedCandidate])[],
  reads: ExplainedRanking['reads'],
): Move[] {
  const effects = pairs.map(([before, after]) => [effectsOf(before), effectsOf(after)] as const);
  const steps = new Set(
    effects.flatMap(([before, after]) => [...before.scores.keys(), ...after.scores.keys()]),
  );
  const gains = new Map<string, readonly number[]>();
  for (const step of steps) {
    // A step that adds the same to every candidate moves none: what counts is the difference to the middle candidate.
    const gained = effects.map(
      ([before, after]) => (after.scores.get(step) ?? 0) - (before.scores.get(step) ?? 0),
    );
    const middle = quantile(Float64Array.from(gained).sort(), 0.5);
    gains.set(
      step,
      gained.map((gain) => gain - middle),
    );
  }
  return pairs.flatMap(([before, after], at): Move[] => {
    if (before.place === after.place) return [];
    const [a, b] = effects[at] ?? [];
    const cause = (a && b && placedBy(a, b)) ?? scoredBy(gains, at);
    const value = cause === undefined ? '' : changedValue(before, after, reads.get(cause.step) ?? []);
    return [
      {
        candidate: before.candidate_id,
        from: before.place,
        to: after.place,
        step: cause?.step,
        why: cause === undefined ? 'candidates around it changed' : cause.why + value,
      },
    ];
  });
}

/** The first number that the step reads and that differs, e.g. ` (relevance:score 1.2 → 2.2)`. */
function changedValue(
  before: ExplainedCandidate,
  after: ExplainedCandidate,
  reads: readonly string[],
): string {
  for (const name of reads) {
    const [from, to] = [before.values[name]?.value, after.values[name]?.value];
    if (typeof from === 'number' && typeof to === 'number' && from !== to)
      return ` (${name} ${short(from)} → ${short(to)})`;
  }
  return '';
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}

function placedBy(a: Effects, b: Effects): { readonly step: string; readonly why: string } | undefined {
  for (const [step, what] of b.placed)
    if (a.placed.get(step) !== what) return { step, why: `${step} ${what}` };
  for (const [step, what] of a.placed)
    if (!b.placed.has(step)) return { step, why: `${step} of A ${what}, that of B does not` };
  return undefined;
}

function scoredBy(
  gains: ReadonlyMap<string, readonly number[]>,
  at: number,
): { readonly step: string; readonly why: string } | undefined {
  let best: { readonly step: string; readonly gain: number } | undefined;
  for (const [step, byCandidate] of gains) {
    const gain = byCandidate[at] ?? 0;
    if (Math.abs(gain) > Math.abs(best?.gain ?? 0)) best = { step, gain };
  }
  if (best === undefined) return undefined;
  const amount = short(Math.abs(best.gain));
  return { step: best.step, why: `${best.step} ${best.gain > 0 ? '+' : '−'}${amount}` };
}

/** How much a move changes what users see: the change of the discount of NDCG, so that the top counts most. */
export function weightOf({ from, to }: Pick<Move, 'from' | 'to'>): number {
  return Math.abs(1 / Math.log2(from + 1) - 1 / Math.log2(to + 1));
}
