import { INTERACTION_TYPES, LONGEST_WINDOW } from '../api/interactions.js';
import type { HistoryRead, Plan } from '../compile/plan.js';
import type { TrackedFacet } from '../compile/tracked-facet.js';
import { groupBy } from '../core/group-by.js';

/** What the histories of one entity type must keep. */
export interface HistoryNeeds {
  /** By kind: the longest window of any step, in milliseconds. A kind that no step counts gets `longest`. */
  readonly windows: readonly number[];
  /** The longest window of all kinds, in milliseconds. */
  readonly longest: number;
  /** How long any history is kept without a write, in milliseconds. */
  readonly retention: number;
  /** The facets that steps count for a kind of event, by the entity type that the event is about. */
  facetsOf(type: number, subject: string): ReadonlyMap<string, TrackedFacet> | undefined;
}

/**
 * Combines the needs of all pipelines, by entity type.
 * @param retention no window is longer, in milliseconds
 */
export function historyNeedsOf(
  plans: readonly Plan[],
  retention = Infinity,
): ReadonlyMap<string, HistoryNeeds> {
  const reads = plans.flatMap(({ levels }) => levels.flatMap(({ histories }) => histories));
  const byOwner = groupBy(reads, ({ type }) => type);
  return new Map([...byOwner].map(([owner, its]) => [owner, needsOfOwner(its, retention)]));
}

function needsOfOwner(reads: readonly HistoryRead[], retention: number): HistoryNeeds {
  const wanted = reads
    .flatMap(({ wants }) => wants)
    .map((one) => ({ ...one, window: Math.min(one.window, retention) }));
  const longest = Math.max(...wanted.map(({ window }) => window));
  // Events of a kind that no step counts are kept: another version of the project may still count them during a
  // rollout.
  const windows = INTERACTION_TYPES.map((type) => {
    const its = wanted.filter((one) => one.type === type);
    return its.length === 0 ? longest : Math.max(...its.map(({ window }) => window));
  });
  const facets = INTERACTION_TYPES.map((type) => {
    const bySubject = new Map<string, Map<string, TrackedFacet>>();
    for (const one of wanted) {
      if (one.type !== type) continue;
      const its = bySubject.get(one.subject) ?? new Map<string, TrackedFacet>();
      bySubject.set(one.subject, its.set(one.name, one));
    }
    return bySubject;
  });
  return {
    windows,
    longest,
    retention: Math.min(retention, LONGEST_WINDOW),
    facetsOf: (type, subject) => facets[type]?.get(subject),
  };
}
