import type { Bound } from '../../../ground/api/ranking-edit.js';
import type { RuleKind } from '../rule-kind.js';
import { checkGroups, groupedRows } from './rows.js';

/** At most some rows of a group on a page, or in any window of places. */
export const limit: RuleKind<Bound> = {
  strength: 1,
  take(bound, count) {
    checkGroups(bound.groups, count);
    if (!isCount(bound.most) || !(bound.within === 'page' || isCount(bound.within)))
      throw new RangeError('a bound has whole numbers from 1');
    return bound;
  },
  rowsOf: ({ groups }) => groupedRows(groups),
  bound: (bound) => bound,
};

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}
