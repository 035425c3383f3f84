import type { Bound } from '../../../ground/api/ranking-edit.js';
import { Filling } from './filling.js';
import { pageStart } from '../page-grid.js';
import { boundsOf, type RankingState } from '../rule-kind.js';
import { OrderSearch } from './order-search.js';

/** In a ranking of at most so many candidates, a search looks at all places together. */
const SEARCHED_TOGETHER = 100;
/** In a larger one, it looks at each page, or, if no bound counts by page, at so many places. */
const SEARCHED_PLACES = 32;
/** How many rows the searches of an order try. */
const SEARCH_STEPS = 600;
/** A search makes lists of all rows before it tries one. Those of so many rows count as one step. */
const LISTED_ROWS = 200;

/**
 * Fills the places from the top, as `Filling` says. This keeps a single bound whenever some order does. Of several bounds, or
 * of one around rows with places of their own, it may break one that could be kept. Then a search of bounded cost looks for
 * an order that keeps them all. The first rows do not depend on `most`, so pages fit together.
 * @param fixed rows with a place of their own, by position from 1
 * @param free the other rows, best first
 */
export function fillPlaces(
  fixed: ReadonlyMap<number, number>,
  free: Int32Array,
  state: RankingState,
  most: number,
): Int32Array {
  const bounds = boundsOf(state.rules);
  const total = free.length + fixed.size;
  const wanted = Math.min(most, total);
  if (bounds.length === 0 || (bounds.length === 1 && fixed.size === 0)) {
    const filling = new Filling(fixed, free, bounds, state, wanted);
    filling.fill(0, wanted);
    return filling.order;
  }
  if (total <= SEARCHED_TOGETHER) {
    const { order, isKept } = fillParts(fixed, free, bounds, state, [total]);
    if (isKept) return order.subarray(0, wanted);
  }
  return fillParts(fixed, free, bounds, state, partEnds(bounds, state, wanted, total)).order.subarray(
    0,
    wanted,
  );
}

/**
 * Fills one part of the places after the other, and searches an order of those that break a bound.
 * @param ends the ranks after the parts
 * @returns `isKept`: whether all bounds hold
 */
function fillParts(
  fixed: ReadonlyMap<number, number>,
  free: Int32Array,
  bounds: readonly Bound[],
  state: RankingState,
  ends: readonly number[],
): { readonly order: Int32Array; readonly isKept: boolean } {
  const { page } = state;
  const length = ends.at(-1) ?? 0;
  let filling = new Filling(fixed, free, bounds, state, length);
  let steps = SEARCH_STEPS;
  let isKept = true;
  let from = 0;
  for (const to of ends) {
    if (!filling.fill(from, to)) {
      let found: Int32Array | undefined;
      if (to - from <= SEARCHED_TOGETHER && steps > 0) {
        const search = new OrderSearch(
          { bounds, page, fixed, ...filling.emptied(from, to), from, to },
          steps,
        );
        found = search.find();
        steps = search.stepsLeft - Math.floor(free.length / LISTED_ROWS);
      }
      if (found === undefined) isKept = false;
      else {
        filling = new Filling(fixed, free, bounds, state, length);
        filling.take(found.subarray(0, to));
      }
    }
    from = to;
  }
  return { order: filling.order, isKept };
}

/** The ranks after the parts that are searched one after the other, up to the first one that ends the wanted places. */
function partEnds(bounds: readonly Bound[], { page }: RankingState, wanted: number, total: number): number[] {
  const isByPage = bounds.some(({ within }) => within === 'page');
  const { size, first } = isByPage ? page : { size: SEARCHED_PLACES, first: 0 };
  const ends: number[] = [];
  let end = pageStart({ size, first }, 0) + size;
  for (; (ends.at(-1) ?? 0) < wanted; end += size) ends.push(Math.min(end, total));
  return ends;
}
