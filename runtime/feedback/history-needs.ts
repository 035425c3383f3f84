import { INTERACTION_TYPES } from '../api/interactions.js';
import type { HistoryRead, Plan } from '../compile/plan.js';
import type { TrackedFacet } from '../compile/tracked-facet.js';
import { groupBy } from '../core/group-by.js';

/** What is kept of the events of one entity type. */
export interface HistoryNeeds {
  /** By kind, milliseconds: the longest that any step counts; for a kind that none counts, the longest of all. */
  readonly windows: readonly number[];
  /** Milliseconds. */
  readonly longest: number;
  /** The facets that are counted of a kind of events, by the type of their subject. */
  facetsOf(type: number, subject: string): ReadonlyMap<string, TrackedFacet> | undefined;
}

/** What the histories of each entity type must keep, for all pipelines together. */
export function historyNeedsOf(plans: readonly Plan[]): ReadonlyMap<string, HistoryNeeds> {
  const reads = plans.flatMap(({ levels }) => levels.flatMap(({ histories }) => histories));
  const byOwner = groupBy(reads, ({ type }) => type);
  return new Map([...byOwner].map(([owner, its]) => [owner, needsOfOwner(its)]));
}

function needsOfOwner(reads: readonly HistoryRead[]): HistoryNeeds {
  const wanted = reads.flatMap(({ wants }) => wants);
  const longest = Math.max(...wanted.map(({ window }) => window));
  // Kinds that only another version of the project counts stay: both may be at work for a while.
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
  return { windows, longest, facetsOf: (type, subject) => facets[type]?.get(subject) };
}
