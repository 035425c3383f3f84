import { LONGEST_WINDOW } from '../../ground/api/interactions.js';
import { allLevels, type HistoryRead, type Plan } from '../../request/compile/plan.js';
import { ANY_SUBJECT, type TrackedFacet } from '../../request/compile/tracked-facet.js';
import { groupBy } from '../../ground/core/group-by.js';
import type { EventCodes } from '../../state/store/event-codes.js';

/** What the histories of one entity type must keep. Kinds of events are given as codes. */
export interface HistoryNeeds {
  /** By kind: the longest window of any step, in milliseconds. A kind that no step counts has `longest`. */
  readonly windows: ReadonlyMap<number, number>;
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
  codes: EventCodes,
  retention = Infinity,
): ReadonlyMap<string, HistoryNeeds> {
  const reads = plans.flatMap(allLevels).flatMap(({ histories }) => histories);
  const byOwner = groupBy(reads, ({ type }) => type);
  return new Map([...byOwner].map(([owner, its]) => [owner, needsOfOwner(its, codes, retention)]));
}

function needsOfOwner(reads: readonly HistoryRead[], codes: EventCodes, retention: number): HistoryNeeds {
  const wanted = reads
    .flatMap(({ wants }) => wants)
    .map((one) => ({ ...one, code: codes.codeOf(one.type), window: Math.min(one.window, retention) }));
  // Events of a kind that no step counts are kept: another version of the project may still count them during a
  // rollout.
  const longest = Math.max(...wanted.map(({ window }) => window));
  const windows = new Map<number, number>();
  const facets = new Map<number, Map<string, Map<string, TrackedFacet>>>();
  for (const one of wanted) {
    const { code, subject, window } = one;
    windows.set(code, Math.max(window, windows.get(code) ?? 0));
    const bySubject = facets.get(code) ?? new Map<string, Map<string, TrackedFacet>>();
    const its = bySubject.get(subject) ?? new Map<string, TrackedFacet>();
    facets.set(code, bySubject.set(subject, its.set(one.name, one)));
  }
  return {
    windows,
    longest,
    retention: Math.min(retention, LONGEST_WINDOW),
    facetsOf: (type, subject) => {
      const bySubject = facets.get(type);
      const [own, any] = [bySubject?.get(subject), bySubject?.get(ANY_SUBJECT)];
      return own === undefined || any === undefined ? (own ?? any) : new Map([...any, ...own]);
    },
  };
}
